import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Home,
  ownEnvironment,
  rememberPorts,
  repository,
  runningPid,
  startDaemon,
  stopDaemon,
} from '@switchhook/test-servers'
import { Agent, request } from 'undici'

export type PrivateAsterisk = Awaited<ReturnType<typeof privateAsterisk>>

const CONFIGURATION = join(repository, 'tools', 'pbx', 'asterisk')
/** Modules require these files; their defaults suffice. */
const EMPTY = ['acl', 'ccss', 'cdr', 'features', 'udptl', 'websocket_client']
const FOLDERS = ['etc', 'db', 'spool/recording', 'run', 'log/cel-custom', 'lib', 'moh']
const USER = 'switchhook'
const LOOPBACK = '127.0.0.1'
/** Two for each SIP leg; a call of the tests has three legs. Enough for 130 concurrent calls. */
const RTP_PORTS = 800
/** All below 60 000. */
const RTP_RANGES = 50
const READY_WITHIN_MS = 20_000
/** Samples of a rectangular wave of 400 Hz, in µ-law. */
const MUSIC = Uint8Array.from({ length: 8_000 }, (_, at) => (at % 20 < 10 ? 0x9f : 0x1f))

/**
 * An Asterisk on loopback with the phones and numbers of the tests: endpoints `agents`, a trunk `pstn` whose other end is the
 * outside world, and numbers that answer, are busy, ring for ever and do not exist.
 * @param root from `asteriskFiles`
 */
export async function privateAsterisk(
  home: Home,
  root: string,
  agents: readonly { readonly name: string; readonly extension: string }[],
  /** PEM, for 127.0.0.1. */
  tls?: { readonly certificate: string; readonly key: string },
) {
  const run = join(home.dataDir, 'asterisk')
  for (const folder of FOLDERS) mkdirSync(join(run, folder), { recursive: true })
  const isRunning = (await runningPid(home, 'asterisk')) !== undefined
  const { http, https, sip, ami } = await rememberPorts(
    join(home.dataDir, 'asterisk-ports.json'),
    { http: 0, https: 0, sip: 0, ami: 0 },
    new Set(isRunning ? ['http', 'https', 'sip', 'ami'] : []),
  )
  const rtp = 20_000 + (http % RTP_RANGES) * RTP_PORTS
  const password = `secret-${home.id}`
  const [triplet = ''] = readdirSync(join(root, 'usr', 'lib')).filter((name) => name.endsWith('-linux-gnu'))
  const values: Readonly<Record<string, string>> = {
    RUN: run,
    ROOT: root,
    TRIPLET: triplet,
    SECRET: password,
    ADDRESS: LOOPBACK,
    NAT: '',
    PERMITTED: `${LOOPBACK}/255.255.255.255`,
    HTTP_PORT: String(http),
    TLS: tls === undefined ? 'no' : 'yes',
    HTTPS_PORT: String(https),
    SIP_PORT: String(sip),
    AMI_PORT: String(ami),
    RTP_START: String(rtp),
    RTP_END: String(rtp + RTP_PORTS),
    AGENTS: agents.map(({ name, extension }) => agentSection(name, extension, password)).join('\n'),
  }
  writeFileSync(join(run, 'moh', 'music.ulaw'), MUSIC)
  const documentation = join(root, 'usr', 'share', 'asterisk', 'documentation')
  if (existsSync(documentation)) cpSync(documentation, join(run, 'lib', 'documentation'), { recursive: true })
  if (tls !== undefined) {
    writeFileSync(join(run, 'etc', 'certificate.pem'), tls.certificate)
    writeFileSync(join(run, 'etc', 'key.pem'), tls.key, { mode: 0o600 })
  }
  for (const name of EMPTY) writeFileSync(join(run, 'etc', `${name}.conf`), '[general]\n')
  for (const name of readdirSync(CONFIGURATION)) {
    const text = readFileSync(join(CONFIGURATION, name), 'utf8')
    writeFileSync(
      join(run, 'etc', name),
      text.replaceAll(/@([A-Z_]+)@/g, (_all, key: string) => values[key] ?? ''),
    )
  }
  const libraries = join(root, 'usr', 'lib', triplet)
  const [loader = ''] = globSync('usr/lib{64,}/ld-linux*', { cwd: root })
  const url = new URL(`http://127.0.0.1:${http}`)
  const tlsUrl = tls === undefined ? null : new URL(`https://127.0.0.1:${https}`)
  return {
    url,
    /** The same server over TLS; null without a certificate. */
    tlsUrl,
    user: USER,
    /** The same for every login, because this Asterisk listens only on loopback. */
    password,
    /** Asterisk's own log of its channels (`cel_custom.conf`). */
    channelLog: join(run, 'log', 'cel-custom', 'channels.csv'),
    /** The URL for phones that use SIP over WebSocket. */
    phonesUrl: `ws://127.0.0.1:${http}/ws`,
    /** It must not be running. A restart uses the same ports. */
    start: (): Promise<void> =>
      startDaemon(home, {
        name: 'asterisk',
        command: join(root, loader),
        args: [
          '--library-path',
          `${libraries}:${join(libraries, 'asterisk')}`,
          join(root, 'usr', 'sbin', 'asterisk'),
          '-f',
          '-C',
          join(run, 'etc', 'asterisk.conf'),
        ],
        env: ownEnvironment(),
        // Asterisk starts without TLS if another process has the port.
        isReady: () => knowsPhones(tlsUrl ?? url, password),
        readyWithinMs: READY_WITHIN_MS,
      }),
    stop: async (): Promise<void> => void (await stopDaemon(home, 'asterisk', 10_000)),
  }
}

const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })

/** Asterisk answers before all of its modules are loaded. */
async function knowsPhones(url: URL, password: string): Promise<boolean> {
  const authorization = `Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`
  try {
    const { statusCode, body } = await request(new URL('/ari/endpoints/PJSIP', url), {
      dispatcher,
      headers: { authorization },
      reset: true,
    })
    const endpoints: unknown = await body.json()
    return statusCode === 200 && Array.isArray(endpoints) && endpoints.length > 0
  } catch {
    return false
  }
}

const agentSection = (name: string, extension: string, password: string): string => `[${name}](agent)
auth = ${name}
aors = ${name}
callerid = "${name}" <${extension}>
[${name}](login)
username = ${name}
password = ${password}
[${name}](contacts)
`
