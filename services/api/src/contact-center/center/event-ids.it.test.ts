import { randomUUID } from 'node:crypto'
import { CallState, newCallId, type PlatformEvent, Unavailable } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'
import { aReport } from '@switchhook/servicekit'
import { createOutbox, createStateStore, openRedis, type Redis, type StateStore } from '@switchhook/store'
import { silentLog, startTcpProxy, type TcpProxy, type TestRedis, testRedis } from '@switchhook/testkit'
import { createTransact } from '../../state/transact.ts'
import { agentKey } from './agent.ts'
import { callKey } from './call.ts'
import { type Center, createCenter, createRecordWith } from './center.ts'

const AGENT = 'sip:alice@acme.example'

let server: TestRedis
let proxy: TcpProxy
/** The connection of the replica under test, through the proxy. */
let redis: Redis
/** The connection of the test, without the proxy. */
let direct: Redis
let store: StateStore
let center: Center
let tenant: string

beforeAll(async () => {
  server = await testRedis()
  proxy = await startTcpProxy(server.redisUrl)
  redis = await openRedis({ url: proxy.url, log: silentLog, name: 'api' })
  direct = await openRedis({ url: server.redisUrl, log: silentLog, name: 'test' })
  store = createStateStore(redis)
})

beforeEach(async () => {
  await server.flush()
  tenant = randomUUID()
  const transact = createTransact(store, () => {})
  const recordWith = createRecordWith(transact, 0, Date.now)
  center = createCenter({ store, transact, recordWith, platform: { lookUp: async () => [] }, now: Date.now })
})

afterAll(async () => {
  await Promise.all([redis.close(), direct.close()])
  await proxy.close()
  await server.close()
})

const callId = newCallId()
const report = (more: Partial<LegReport>): LegReport => aReport({ tenant, callId, ...more })

async function takeEvents(): Promise<PlatformEvent[]> {
  const outbox = createOutbox(direct)
  const entries = await outbox.claim(100)
  await outbox.sent(entries)
  return entries.map(({ event }) => event)
}

const summary = (events: readonly PlatformEvent[]) =>
  events.map(({ eventType, data }) => [eventType, data['sequence'], data['state'] ?? data['deviceStatus']])

/** Copies the records of the call and its agent. The result restores them with their versions. */
async function backUp(): Promise<() => Promise<void>> {
  const keys = [callKey(callId), agentKey(AGENT)]
  const copies = (await store.read(tenant, keys)).map((record) => {
    // A commit to an empty Redis writes version 1.
    if (record?.version !== 1) throw new Error('Only version 1 can be restored.')
    return record.value
  })
  return async () => {
    await server.flush()
    const records = keys.map((key, at) => ({ key, expectedVersion: 0, value: copies[at] }))
    await store.commit(tenant, { records, events: [], timers: [] })
  }
}

test('after Redis went back to an older state, another event with the same sequence has another id', async () => {
  await center.listener.legs([report({ state: CallState.alerting })])
  await takeEvents()
  const restore = await backUp()

  await center.listener.legs([report({ state: CallState.connected, order: 2 })])
  const lost = await takeEvents()
  await restore()
  await center.listener.legs([report({ state: CallState.ended, order: 2 })])
  const next = await takeEvents()

  expect(summary(lost)).toEqual([
    ['call.status', 2, CallState.connected],
    ['agent.status', 2, 2],
  ])
  expect(summary(next)).toEqual([
    ['call.status', 2, CallState.ended],
    ['agent.status', 2, 1],
  ])
  expect(new Set([...lost, ...next].map(({ eventId }) => eventId)).size).toBe(4)
})

describe('a commit whose answer was lost', () => {
  /** Cuts the connection when Redis answers the next script call. */
  function loseNextCommit(): void {
    let isCommitUnderWay = false
    proxy.cutWhen((chunk, direction) => {
      if (direction === 'toServer') isCommitUnderWay ||= /evalsha/i.test(chunk.toString('latin1'))
      return direction === 'toClient' && isCommitUnderWay
    })
  }

  test.each<[string, () => Promise<unknown>, [string, number, number][]]>([
    [
      'of a report of the platform',
      () => center.listener.legs([report({ state: CallState.connected, order: 2 })]),
      [
        ['call.status', 2, CallState.connected],
        ['agent.status', 2, 2],
      ],
    ],
    [
      'of a presence setting',
      () => center.setPresence(tenant, AGENT, { statusCode: 66, until: null, message: 'back at one', location: null }),
      [['agent.status', 2, 6]],
    ],
    [
      'of a device report',
      () => center.listener.device({ tenant, agentUri: AGENT, order: 1, online: false, at: new Date().toISOString() }),
      [['agent.status', 2, 5]],
    ],
  ])('%s: repeating it publishes no second event', async (_what, act, expected) => {
    await center.listener.legs([report({ state: CallState.alerting })])
    await takeEvents()

    loseNextCommit()
    const lost = await act().catch((error: unknown) => error)
    await redis.ready()
    await act()
    await act()

    expect(summary(await takeEvents())).toEqual(expected)
    expect(lost).toBeInstanceOf(Unavailable)
  })
})
