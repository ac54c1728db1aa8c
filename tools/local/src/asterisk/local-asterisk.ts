import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AsteriskUnavailable, asteriskFiles, type PrivateAsterisk, privateAsterisk } from '@switchhook/pbx'
import {
  type Home,
  httpSucceeds,
  ownEnvironment,
  rememberPorts,
  repository,
  runningPid,
  type Say,
  startDaemon,
  stopDaemon,
  withProgress,
} from '@switchhook/test-servers'
import { PEOPLE, type Person } from './people.ts'

/** A private Asterisk with SIP phones for the stack on this machine. */
export type LocalAsterisk = Awaited<ReturnType<typeof startLocalAsterisk>>

/** The names of its processes, in the order in which they are stopped. */
export const ASTERISK_PROCESSES = ['telephones', 'asterisk'] as const

/** Whether the stack needs an Asterisk of its own: `PLATFORM=asterisk` without the address of another one. */
export const needsLocalAsterisk = (env: NodeJS.ProcessEnv): boolean =>
  env['PLATFORM'] === 'asterisk' && !env['ASTERISK_URL']

/**
 * Starts Asterisk and its phones, if they are not running.
 * @throws AsteriskUnavailable
 */
export async function startLocalAsterisk(home: Home, say: Say, people: readonly Person[] = PEOPLE) {
  const files = withProgress(say, 'looking for Asterisk (a download of 72 MB at first use)', asteriskFiles())
  const root = await files.catch((error: unknown) => {
    if (!(error instanceof AsteriskUnavailable)) throw error
    throw new AsteriskUnavailable(
      `Asterisk cannot be installed: ${error.message}. Set ASTERISK_ROOT to a folder with its unpacked Debian packages, ` +
        'or ASTERISK_URL (and the other ASTERISK_ settings) to a PBX of yours: docs/asterisk.md.',
      { cause: error },
    )
  })
  const asterisk = await privateAsterisk(home, root, people)
  if ((await runningPid(home, 'asterisk')) === undefined) {
    // Its ports may have been taken meanwhile, and the phones know only the former ones.
    await stopDaemon(home, 'telephones', 10_000)
    await withProgress(say, 'starting Asterisk', asterisk.start())
  }
  const { url, user, password, channelLog } = asterisk
  const passwordFile = join(home.dataDir, 'asterisk-password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  return {
    url: url.origin,
    user,
    password,
    channelLog,
    /** Steers the phones and the callers from outside (`telephones.ts`). */
    telephonesUrl: await startTelephones(home, asterisk, people),
    /** The api's settings for this Asterisk. */
    environment: {
      PLATFORM: 'asterisk',
      ASTERISK_URL: url.origin,
      ASTERISK_USER: user,
      ASTERISK_PASSWORD_FILE: passwordFile,
      ASTERISK_MANAGER_USER: user,
      ASTERISK_MANAGER_PASSWORD_FILE: passwordFile,
      ASTERISK_TRUNK: 'pstn',
      ASTERISK_DEFAULT_CLI: '+15550000',
      ASTERISK_AGENTS: JSON.stringify(people.map(({ name, ...agent }) => ({ ...agent, endpoint: name }))),
    },
  }
}

async function startTelephones(
  home: Home,
  { url, password }: PrivateAsterisk,
  people: readonly Person[],
): Promise<string> {
  const isRunning = (await runningPid(home, 'telephones')) !== undefined
  const file = join(home.dataDir, 'telephones-port.json')
  const { port } = await rememberPorts(file, { port: 0 }, new Set(isRunning ? ['port'] : []))
  const telephonesUrl = `http://127.0.0.1:${port}`
  if (isRunning) return telephonesUrl
  await startDaemon(home, {
    name: 'telephones',
    command: process.execPath,
    args: [join(repository, 'tools', 'local', 'dist', 'asterisk', 'run-telephones.js')],
    env: {
      ...ownEnvironment(),
      TELEPHONES_PORT: String(port),
      TELEPHONES_ASTERISK_URL: url.origin,
      TELEPHONES_PASSWORD: password,
      TELEPHONES_NAMES: people.map(({ name }) => name).join(','),
    },
    isReady: () => httpSucceeds(telephonesUrl),
    readyWithinMs: 20_000,
  })
  return telephonesUrl
}
