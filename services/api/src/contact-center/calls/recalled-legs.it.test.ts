import { randomUUID } from 'node:crypto'
import { CallState, parseCallId } from '@switchhook/contracts'
import { type ProvisionedAgent, simulatedCallKey } from '@switchhook/platform'
import { createStateStore, openRedis, type Redis, type StateStore } from '@switchhook/store'
import { silentLog, type TestRedis, testRedis } from '@switchhook/testkit'
import type { Answer } from '../../http/route.ts'
import { createRecentRecords } from '../../state/recent-records.ts'
import { createTransact } from '../../state/transact.ts'
import { boundRoute } from '../../testing/bound-route.ts'
import { createCenter } from '../center/center.ts'
import { openSimulator } from '../platform/simulator/open-simulator.ts'
import { legRoutes } from './leg-routes.ts'

let server: TestRedis
let redis: Redis
let tenant: string
let alice: ProvisionedAgent

beforeAll(async () => {
  server = await testRedis()
  redis = await openRedis({ url: server.redisUrl, log: silentLog, name: 'api' })
})
beforeEach(() => {
  tenant = randomUUID()
  alice = { agentUri: 'sip:alice@acme.example', tenant, device: 'SIM/alice' }
})
afterAll(async () => {
  await redis.close()
  await server.close()
})

/** A replica of the api that counts its reads. */
async function startReplica() {
  const counted = { reads: 0 }
  const plain = createStateStore(redis)
  const store: StateStore = {
    ...plain,
    read: (of, keys) => {
      counted.reads += 1
      return plain.read(of, keys)
    },
  }
  const recent = createRecentRecords()
  const center = createCenter({
    store,
    transact: createTransact(store, () => {}, undefined, recent),
    recall: recent.recall,
    platformKeys: (callId) => [simulatedCallKey(callId)],
    platform: { lookUp: async () => [] },
    wrapUpMs: 0,
    now: Date.now,
  })
  const platform = openSimulator({
    agents: [alice],
    scenario: null,
    store,
    record: center.recordWith,
    expectTimer: () => {},
    log: silentLog,
    now: Date.now,
  })
  await platform.start(center.listener)
  const give = (operationId: string, callId: string): Promise<Answer> =>
    boundRoute(legRoutes, operationId, { platform, center, now: Date.now }).handle({
      caller: { tenant, clientId: 'acme-app', role: 'operator' },
      params: { callId },
      query: {},
      body: { agentUri: alice.agentUri },
      requestId: 'direct',
      idFor: () => randomUUID(),
      isKeyed: false,
      isClosed: () => false,
    })
  const ring = async (): Promise<string> =>
    (await platform.ring(alice, { from: '+15559000', ringForMs: null, talkForMs: null })) ?? fail()
  const stateOf = async (callId: string): Promise<CallState | undefined> =>
    (await center.findCall(tenant, parseCallId(callId)))?.legs[alice.agentUri]?.status.state
  return { counted, give, ring, stateOf }
}

const NOOP = { status: 202, body: { noop: true } }

test('commands that follow each other in one process read nothing', async () => {
  const { counted, give, ring, stateOf } = await startReplica()
  const callId = await ring()
  const before = counted.reads
  for (const command of ['answer', 'hold', 'resume', 'hold']) await give(command, callId)
  expect(counted.reads).toBe(before)
  expect(await stateOf(callId)).toBe(CallState.held)
})

test('a command is refused, and does nothing, only because of the state in Redis', async () => {
  const [one, other] = [await startReplica(), await startReplica()]
  const callId = await one.ring()
  await one.give('answer', callId)
  await other.give('hold', callId)
  // The first replica remembers a connected call: nothing to resume.
  expect(await one.give('resume', callId)).toMatchObject({ status: 202, body: { noop: false } })
  expect(await one.stateOf(callId)).toBe(CallState.connected)
  expect(await one.give('resume', callId)).toMatchObject(NOOP)
  await other.give('hangup', callId)
  await expect(one.give('hold', callId)).rejects.toMatchObject({ code: 'invalid-call-state' })
  expect(await one.give('hangup', callId)).toMatchObject(NOOP)
})
