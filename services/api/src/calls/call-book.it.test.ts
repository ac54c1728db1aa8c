import { randomUUID } from 'node:crypto'
import {
  type CallId,
  CallState,
  Direction,
  EndedBy,
  EndReason,
  newCallId,
  newCommandId,
  PartyType,
  type PlatformEvent,
  Role,
} from '@switchhook/contracts'
import type { Fact } from '@switchhook/platform'
import { createOutbox, createStateStore, openRedis, type Redis } from '@switchhook/store'
import { type TestRedis, testRedis } from '@switchhook/testkit'
import { type CallBook, createCallBook } from './call-book.ts'
import type { Call } from './call-model.ts'

const AGENT = 'sip:alice@acme.example'
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

let server: TestRedis
let redis: readonly [Redis, Redis]
let books: readonly [CallBook, CallBook]
let tenant: string

beforeAll(async () => {
  server = await testRedis()
  const open = (name: string): Promise<Redis> => openRedis({ url: server.redisUrl, log: quiet, name })
  redis = [await open('one replica'), await open('another replica')]
})

beforeEach(() => {
  tenant = randomUUID()
  const book = (connection: Redis): CallBook => createCallBook(createStateStore(connection), () => {}, Date.now)
  books = [book(redis[0]), book(redis[1])]
})

afterAll(async () => {
  await Promise.all(redis.map((connection) => connection.close()))
  await server.close()
})

const aCall = (callId: CallId = newCallId(), createdAt = new Date().toISOString()): Call => ({
  callId,
  tenant,
  originator: AGENT,
  cli: null,
  correlationId: null,
  dialCommandId: newCommandId(),
  createdAt,
  legs: {},
})

const factOf = (callId: CallId) => ({ tenant, callId, agentUri: AGENT, at: new Date().toISOString(), commandId: null })

const opened = (callId: CallId): Fact => ({
  ...factOf(callId),
  kind: 'opened',
  direction: Direction.outbound,
  role: Role.originator,
  internal: false,
  remoteParty: { uri: 'tel:+15550100', number: '+15550100', name: null, type: PartyType.external },
  device: null,
})

const ended = (callId: CallId): Fact => ({
  ...factOf(callId),
  kind: 'ended',
  endReason: EndReason.normal,
  endedBy: EndedBy.remote,
  cause: 16,
  sipCode: null,
})

/** Takes what the outbox holds for this test's tenant. */
async function takeEvents(): Promise<PlatformEvent[]> {
  const outbox = createOutbox(redis[0], randomUUID())
  const events: PlatformEvent[] = []
  for (let batch = await outbox.claim(100); batch.length > 0; batch = await outbox.claim(100)) {
    events.push(...batch.map(({ event }) => event))
    await outbox.sent(batch)
  }
  return events.filter((event) => event.tenant === tenant)
}

test('two dials for one agent at the same instant, on two replicas, make one call', async () => {
  for (let round = 0; round < 10; round++) {
    const calls = [aCall(), aCall()] as const
    const results = await Promise.allSettled([books[0].begin(calls[0], AGENT), books[1].begin(calls[1], AGENT)])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'agent-device-unavailable' },
    })
    const begun = calls[results[0].status === 'fulfilled' ? 0 : 1]
    await books[0].abandon(begun, AGENT)
  }
})

test('a fact that two replicas record at the same instant makes one event', async () => {
  const call = aCall()
  await books[0].begin(call, AGENT)
  const fact = opened(call.callId)
  await Promise.all([books[0].record(fact), books[1].record(fact), books[0].record(fact)])

  expect((await books[1].find(tenant, call.callId))?.legs[AGENT]).toMatchObject({
    state: CallState.initiated,
    sequence: 1,
  })
  const events = await takeEvents()
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({ eventType: 'call.status', tenant, data: { callId: call.callId, sequence: 1 } })
})

test('an agent is free again when the call has ended, and the ended call is remembered', async () => {
  const call = aCall()
  await books[0].begin(call, AGENT)
  await books[0].record(opened(call.callId))
  await expect(books[1].begin(aCall(), AGENT)).rejects.toMatchObject({ code: 'agent-device-unavailable' })
  await books[1].record(ended(call.callId))
  const next = aCall()
  await expect(books[1].begin(next, AGENT)).resolves.toEqual(next)
  expect((await books[0].find(tenant, call.callId))?.legs[AGENT]?.state).toBe(CallState.ended)
})

test('a dial that never got to the platform does not keep the device for ever', async () => {
  const stale = aCall(newCallId(), new Date(Date.now() - 60_000).toISOString())
  await books[0].begin(stale, AGENT)
  const next = aCall()
  await expect(books[1].begin(next, AGENT)).resolves.toEqual(next)
})

test('an abandoned dial frees the device, but a call that has begun cannot be abandoned', async () => {
  const first = aCall()
  await books[0].begin(first, AGENT)
  await books[0].abandon(first, AGENT)
  const second = aCall()
  await books[0].begin(second, AGENT)
  await books[0].record(opened(second.callId))
  await books[0].abandon(second, AGENT)
  await expect(books[0].begin(aCall(), AGENT)).rejects.toMatchObject({ code: 'agent-device-unavailable' })
})

test('a call of one tenant is not there for another', async () => {
  const call = aCall()
  await books[0].begin(call, AGENT)
  await expect(books[0].find(randomUUID(), call.callId)).resolves.toBeUndefined()
})

describe('a call that is begun again after a crash', () => {
  test('stays as it is once the platform has told of it, and is answered so', async () => {
    const call = aCall()
    await books[0].begin(call, AGENT)
    await books[0].record(opened(call.callId))
    const stored = await books[0].find(tenant, call.callId)
    const again = { ...call, createdAt: new Date(Date.now() + 40_000).toISOString() }
    await expect(books[1].begin(again, AGENT)).resolves.toEqual(stored)
    expect(await books[1].find(tenant, call.callId)).toEqual(stored)
    await books[0].record(ended(call.callId))
    await expect(books[1].begin(again, AGENT)).resolves.toMatchObject({ legs: { [AGENT]: { state: CallState.ended } } })
    const next = aCall()
    await expect(books[0].begin(next, AGENT)).resolves.toEqual(next)
  })

  test('is not in its own way, and has the device for as long as a new one', async () => {
    const stale = aCall(newCallId(), new Date(Date.now() - 14_000).toISOString())
    await books[0].begin(stale, AGENT)
    const again = { ...stale, createdAt: new Date().toISOString() }
    await expect(books[1].begin(again, AGENT)).resolves.toEqual(again)
    expect(await books[0].find(tenant, stale.callId)).toEqual(again)
    await expect(books[0].begin(aCall(), AGENT)).rejects.toMatchObject({ code: 'agent-device-unavailable' })
  })

  test('has lost the device to the call that took it meanwhile', async () => {
    const stale = aCall(newCallId(), new Date(Date.now() - 60_000).toISOString())
    await books[0].begin(stale, AGENT)
    await books[0].begin(aCall(), AGENT)
    const again = { ...stale, createdAt: new Date().toISOString() }
    await expect(books[1].begin(again, AGENT)).rejects.toMatchObject({ code: 'agent-device-unavailable' })
  })
})
