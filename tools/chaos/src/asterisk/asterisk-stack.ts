import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LocalAsterisk, type Person, startLocalAsterisk, stopStack } from '@switchhook/local'
import { httpSucceeds, openHome, waitUntil } from '@switchhook/test-servers'
import { startTcpProxy, type TcpProxy } from '@switchhook/testkit'
import { openPart, startChaosStack } from '../stack/chaos-stack.ts'
import { type ChannelRecord, parseChannelLog } from './check-calls.ts'

export type AsteriskStack = Awaited<ReturnType<typeof startAsteriskStack>>

const READY_WITHIN_MS = 60_000
const silent = (): void => {}

/** Starts a stack with two api replicas that reach a private Asterisk through a proxy. */
export async function startAsteriskStack(folder: string, settings: NodeJS.ProcessEnv, people: readonly Person[]) {
  const pbxFolder = join(folder, 'pbx')
  await stopStack(pbxFolder, silent, { discardData: true })
  const home = openHome(pbxFolder)
  let link: TcpProxy | undefined
  const discard = async (): Promise<void> => {
    await link?.close()
    await stopStack(pbxFolder, silent, { discardData: true })
  }
  try {
    let asterisk = await startLocalAsterisk(home, console.log, people)
    const proxy = await startTcpProxy(asterisk.url)
    link = proxy
    const environment = { ...settings, ...asterisk.environment, ASTERISK_URL: `http://127.0.0.1:${proxy.port}` }
    const stack = await startChaosStack(folder, environment, { api: 2, fanout: 1, 'delivery-worker': 1 })
    const pbx = openPart(home, ['asterisk'], false, async () => {
      asterisk = await startLocalAsterisk(home, silent, people)
      proxy.aim(asterisk.url)
      const isReady = await waitUntil(() => httpSucceeds(asterisk.telephonesUrl), READY_WITHIN_MS, 100)
      if (!isReady) throw new Error('the phones did not register again')
    })
    return {
      ...stack,
      /** Ends and restores Asterisk, with its phones. */
      pbx,
      telephonesUrl: (): string => asterisk.telephonesUrl,
      /** Between the api replicas and Asterisk. The phones do not use it. */
      link: proxy,
      unexpectedExits: async (): Promise<readonly string[]> =>
        (await Promise.all([stack.unexpectedExits(), pbx.unexpectedExits()])).flat(),
      channelLog: (): readonly ChannelRecord[] => parseChannelLog(readFileSync(asterisk.channelLog, 'utf8')),
      /** Channels and bridges that Asterisk has. */
      leftovers: (): Promise<number> => countLeftovers(asterisk),
      stop: async (): Promise<void> => {
        await stack.stop()
        await discard()
      },
    }
  } catch (error) {
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
