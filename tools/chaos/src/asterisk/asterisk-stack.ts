import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type LocalAsterisk, type Person, startLocalAsterisk, stopStack } from '@switchhook/local'
import { httpSucceeds, openHome, waitUntil } from '@switchhook/test-servers'
import { startTcpProxy } from '@switchhook/testkit'
import { openPart, startChaosStack } from '../stack/chaos-stack.ts'
import { type ChannelRecord, parseChannelLog } from './check-calls.ts'

export type AsteriskStack = Awaited<ReturnType<typeof startAsteriskStack>>

const READY_WITHIN_MS = 60_000
const silent = (): void => {}

/** Starts a stack with two api replicas that reach a private Asterisk through a proxy. */
export async function startAsteriskStack(folder: string, settings: NodeJS.ProcessEnv, people: readonly Person[]) {
  const pbxFolder = join(folder, 'pbx')
  const discard = async (): Promise<void> => {
    await stopStack(pbxFolder, silent, { discardData: true })
    rmSync(folder, { recursive: true, force: true })
  }
  await discard()
  await using starting = new AsyncDisposableStack()
  starting.defer(discard)
  const home = openHome(pbxFolder)
  let asterisk = await startLocalAsterisk(home, console.log, people)
  const link = await startTcpProxy(asterisk.url)
  starting.defer(() => link.close())
  const environment = { ...settings, ...asterisk.environment, ASTERISK_URL: `http://127.0.0.1:${link.port}` }
  const replicas = { api: 2, fanout: 1, 'delivery-worker': 1 }
  const stack = starting.use(await startChaosStack(join(folder, 'stack'), environment, replicas))
  const pbx = openPart(home, ['asterisk'], false, async () => {
    asterisk = await startLocalAsterisk(home, silent, people)
    link.aim(asterisk.url)
    const isReady = await waitUntil(() => httpSucceeds(asterisk.telephonesUrl), READY_WITHIN_MS, 100)
    if (!isReady) throw new Error('the phones did not register again')
  })
  const running = starting.move()
  return {
    ...stack,
    /** Ends and restores Asterisk, with its phones. */
    pbx,
    telephonesUrl: (): string => asterisk.telephonesUrl,
    /** Between the api replicas and Asterisk. The phones do not use it. */
    link,
    unexpectedExits: async (): Promise<readonly string[]> =>
      (await Promise.all([stack.unexpectedExits(), pbx.unexpectedExits()])).flat(),
    channelLog: (): readonly ChannelRecord[] => parseChannelLog(readFileSync(asterisk.channelLog, 'utf8')),
    /** Channels and bridges that Asterisk has. */
    leftovers: (): Promise<number> => countLeftovers(asterisk),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
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
