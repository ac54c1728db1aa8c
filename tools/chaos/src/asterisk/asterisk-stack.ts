import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type LocalAsterisk,
  type Person,
  type StackOptions,
  startLocalAsterisk,
  startStack,
  stopLocalAsterisk,
  stopStack,
} from '@switchhook/local'
import { httpSucceeds, openHome, runningPid, type Say, waitUntil } from '@switchhook/test-servers'
import { startTcpProxy, type TcpProxy } from '@switchhook/testkit'
import { type ChannelRecord, parseChannelLog } from './check-calls.ts'

export type AsteriskStack = Awaited<ReturnType<typeof startAsteriskStack>>

const READY_WITHIN_MS = 60_000
const GONE_WITHIN_MS = 15_000
const silent = (): void => {}

/** Starts a stack with two api replicas that reach a private Asterisk through a proxy. */
export async function startAsteriskStack(folder: string, env: NodeJS.ProcessEnv, people: readonly Person[], say: Say) {
  const options: StackOptions = {
    home: join(folder, 'services'),
    apiPort: 0,
    idpPort: 0,
    replicas: { api: 2, fanout: 1, 'delivery-worker': 1 },
  }
  const pbxFolder = join(folder, 'pbx')
  const discard = async (): Promise<void> => {
    await stopStack(options.home, say, { discardData: true })
    await stopStack(pbxFolder, silent, { discardData: true })
  }
  await discard()
  const pbxHome = openHome(pbxFolder)
  let link: TcpProxy | undefined
  try {
    let asterisk = await startLocalAsterisk(pbxHome, say, people)
    const proxy = await startTcpProxy(asterisk.url)
    link = proxy
    const environment = { ...env, ...asterisk.environment, ASTERISK_URL: `http://127.0.0.1:${proxy.port}` }
    let services = await startStack(options, environment, say)
    const homeOf = (name: string) => (name === 'asterisk' ? pbxHome : openHome(options.home))
    return {
      apis: (): readonly string[] => services.urls.apis,
      devIdp: services.urls.devIdp,
      telephonesUrl: (): string => asterisk.telephonesUrl,
      /** Between the api replicas and Asterisk. The phones do not use it. */
      link: proxy,
      /** Ends an api replica or Asterisk, and resolves once it is gone. */
      end: async (name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
        const home = homeOf(name)
        const pid = await runningPid(home, name)
        if (pid === undefined) return
        process.kill(pid, signal)
        const isGone = await waitUntil(async () => (await runningPid(home, name)) !== pid, GONE_WITHIN_MS, 10)
        if (!isGone) throw new Error(`${name} did not end on ${signal}`)
      },
      /** Starts what was ended, and resolves when api, Asterisk and phones are ready. */
      restore: async (): Promise<void> => {
        asterisk = await startLocalAsterisk(pbxHome, silent, people)
        proxy.aim(asterisk.url)
        services = await startStack(options, environment, silent)
        const isReady = await waitUntil(() => httpSucceeds(asterisk.telephonesUrl), READY_WITHIN_MS, 100)
        if (!isReady) throw new Error('the phones did not register again')
      },
      channelLog: (): readonly ChannelRecord[] => parseChannelLog(readFileSync(asterisk.channelLog, 'utf8')),
      /** Channels and bridges that Asterisk has. */
      leftovers: (): Promise<number> => countLeftovers(asterisk),
      stop: async (): Promise<void> => {
        await stopStack(options.home, say, { discardData: true })
        await proxy.close()
        await stopLocalAsterisk(pbxHome)
        await discard()
      },
    }
  } catch (error) {
    await link?.close()
    await discard()
    throw error
  }
}

async function countLeftovers({ url, user, password }: LocalAsterisk): Promise<number> {
  const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
  const lists = await Promise.all(
    ['channels', 'bridges'].map(async (kind) => {
      const response = await fetch(`${url}/ari/${kind}`, { headers })
      return (await response.json()) as readonly unknown[]
    }),
  )
  return lists.flat().length
}
