import { randomUUID } from 'node:crypto'
import { type CallId, CallState, newCallId, newCommandId, type PlatformEvent } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'
import { aReport } from '@switchhook/servicekit'
import { createOutbox, createStateStore, createTimerStore, openRedis, type Redis } from '@switchhook/store'
import { useRedis } from '@switchhook/testkit'
import { createTransact } from '../../state/transact.ts'
import type { DialledCall } from './begin-dial.ts'
import { type Call, newCall } from './call.ts'
import { type Center, createCenter, createRecordWith, type RecordWith } from './center.ts'
import { PROBE_SILENT_MS } from './silent-call-probe.ts'

const AGENT = 'sip:alice@acme.example'

let redis: readonly [Redis, Redis]
let centers: readonly [Center, Center]
let recordWith: readonly [RecordWith, RecordWith]
let tenant: string
/** The platform's answer to `lookUp`. */
let known: LegReport[]
/** How far the clock of the replicas is ahead. */
let aheadMs: number

useRedis(openRedis, (opened) => (redis = [opened.redis, opened.other]))

beforeEach(() => {
  tenant = randomUUID()
  known = []
  aheadMs = 0
  const now = () => Date.now() + aheadMs
  const open = (connection: Redis) => {
    const store = createStateStore(connection)
    const transact = createTransact(store, () => {})
    const recordWith = createRecordWith(transact, 10_000, now)
    const center = createCenter({ store, transact, recordWith, platform: { lookUp: async () => known }, now })
    return { center, recordWith }
  }
  const [one, other] = [open(redis[0]), open(redis[1])]
  centers = [one.center, other.center]
  recordWith = [one.recordWith, other.recordWith]
})

const aDial = (callId: CallId = newCallId(), createdAt = new Date().toISOString()): DialledCall => ({
  ...newCall({ callId, tenant }, createdAt),
  dialled: {
    agentUri: AGENT,
    destination: '+15550100',
    cli: null,
    correlationId: null,
    commandId: newCommandId(),
  },
})

const report = (callId: CallId, more: Partial<LegReport> = {}): LegReport => aReport({ tenant, callId, ...more })
const tell = (replica: 0 | 1, ...reports: LegReport[]): Promise<void> => centers[replica].listener.legs(reports)
const CLIENT = { clientId: 'acme-app', isKeyed: false }
const begin = async (replica: 0 | 1, call: DialledCall): Promise<Call> =>
  (await centers[replica].beginDial(call, CLIENT)).call
const busy = { code: 'agent-device-unavailable' }

/** Empties the outbox and returns the events of this test's tenant. */
async function takeEvents(): Promise<PlatformEvent[]> {
  const outbox = createOutbox(redis[0])
  const events: PlatformEvent[] = []
  for (let batch = await outbox.claim(100); batch.length > 0; batch = await outbox.claim(100)) {
    events.push(...batch.map(({ event }) => event))
    await outbox.sent(batch)
  }
  return events.filter((event) => event.tenant === tenant)
}

describe('starting a dial', () => {
  test('two for one agent at the same time on two replicas make one call', async () => {
    for (let round = 0; round < 10; round++) {
      const calls = [aDial(), aDial()] as const
      const results = await Promise.allSettled([begin(0, calls[0]), begin(1, calls[1])])
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: busy })
      await centers[0].abandon(calls[results[0].status === 'fulfilled' ? 0 : 1])
    }
  })

  test('is possible during a held call, and not during any other call', async () => {
    const first = await begin(0, aDial())
    await tell(0, report(first.callId, { state: CallState.connected }))
    await expect(begin(1, aDial())).rejects.toMatchObject(busy)
    await tell(0, report(first.callId, { state: CallState.held, order: 2 }))
    const second = aDial()
    await expect(begin(1, second)).resolves.toEqual(second)
    await expect(begin(1, aDial())).rejects.toMatchObject(busy)
  })

  test('is rejected while the device is offline', async () => {
    const device = { tenant, agentUri: AGENT, at: new Date().toISOString() }
    await centers[0].listener.device({ ...device, order: 1, online: false })
    await expect(begin(0, aDial())).rejects.toMatchObject(busy)
    await centers[0].listener.device({ ...device, order: 2, online: true })
    await begin(0, aDial())
  })

  test('that never reached the platform does not reserve the device for ever', async () => {
    await begin(0, aDial(newCallId(), new Date(Date.now() - 60_000).toISOString()))
    const next = aDial()
    await expect(begin(1, next)).resolves.toEqual(next)
  })

  test('that is abandoned frees the device; a call that has begun cannot be abandoned', async () => {
    const first = await begin(0, aDial())
    await centers[0].abandon(first)
    const second = await begin(0, aDial())
    await tell(0, report(second.callId))
    await centers[0].abandon(second)
    await expect(begin(0, aDial())).rejects.toMatchObject(busy)
  })

  test('again after a crash leaves a call unchanged that the platform has reported', async () => {
    const call = aDial()
    await begin(0, call)
    await tell(0, report(call.callId))
    const stored = await centers[0].findCall(tenant, call.callId)
    const again = { ...call, createdAt: new Date(Date.now() + 40_000).toISOString() }
    await expect(begin(1, again)).resolves.toEqual(stored)
    expect(await centers[1].findCall(tenant, call.callId)).toEqual(stored)
  })

  test('again after a crash is not blocked by its own reservation, but by a call that took the device meanwhile', async () => {
    const stale = aDial(newCallId(), new Date(Date.now() - 14_000).toISOString())
    await begin(0, stale)
    const again = { ...stale, createdAt: new Date().toISOString() }
    await expect(begin(1, again)).resolves.toEqual(again)
    const old = aDial(newCallId(), new Date(Date.now() - 60_000).toISOString())
    await centers[0].abandon(again)
    await begin(0, old)
    await begin(0, aDial())
    await expect(begin(1, { ...old, createdAt: new Date().toISOString() })).rejects.toMatchObject(busy)
  })
})

describe('an identical dial', () => {
  const keyed = { ...CLIENT, isKeyed: true }
  const like = (correlationId = 'crm-4711', call = aDial()) => ({
    ...call,
    dialled: { ...call.dialled, correlationId },
  })

  test('is the same call, also at the same time on another replica', async () => {
    const [one, other] = await Promise.all([centers[0].beginDial(like(), CLIENT), centers[1].beginDial(like(), CLIENT)])
    expect(one.call.callId).toBe(other.call.callId)
    expect(new Set([one.again, other.again])).toEqual(new Set([false, true]))
  })

  test('is the same call while its leg at the agent lives, and a new call after that leg has ended', async () => {
    const longAgo = like('crm-4711', aDial(newCallId(), new Date(Date.now() - 61_000).toISOString()))
    const { call } = await centers[0].beginDial(longAgo, CLIENT)
    const again = { again: true, call: { callId: call.callId } }
    expect(await centers[1].beginDial(like(), CLIENT)).toMatchObject(again)
    await tell(0, report(call.callId, { state: CallState.connected }))
    expect(await centers[1].beginDial(like(), CLIENT)).toMatchObject(again)
    await tell(0, report(call.callId, { state: CallState.ended, order: 2 }))
    const next = like()
    expect(await centers[1].beginDial(next, CLIENT)).toEqual({ again: false, call: next })
    // The agent has transferred the call to another agent.
    const target = report(next.callId, { agentUri: 'sip:bob@acme.example', state: CallState.connected })
    await tell(0, target, report(next.callId, { state: CallState.ended }))
    const [one, other] = await Promise.all([centers[0].beginDial(like(), CLIENT), centers[1].beginDial(like(), CLIENT)])
    expect(one.call.callId).toBe(other.call.callId)
    expect([call.callId, next.callId]).not.toContain(one.call.callId)
  })

  test('is the same call if the earlier dial had an Idempotency-Key; with a key of its own it is a new call', async () => {
    const first = like()
    expect(await centers[0].beginDial(first, keyed)).toEqual({ again: false, call: first })
    expect(await centers[1].beginDial(like(), CLIENT)).toMatchObject({ again: true, call: { callId: first.callId } })
    await tell(0, report(first.callId, { state: CallState.held }))
    const second = like()
    expect(await centers[1].beginDial(second, keyed)).toEqual({ again: false, call: second })
    await tell(0, report(second.callId, { state: CallState.connected }))
    expect(await centers[0].beginDial(like(), CLIENT)).toMatchObject({ again: true, call: { callId: first.callId } })
  })

  test('is the live call, if an earlier call with a key has ended', async () => {
    const { call } = await centers[0].beginDial(like(), keyed)
    await tell(0, report(call.callId, { state: CallState.ended }))
    const next = like()
    expect(await centers[1].beginDial(next, keyed)).toEqual({ again: false, call: next })
    expect(await centers[0].beginDial(like(), CLIENT)).toMatchObject({ again: true, call: { callId: next.callId } })
  })

  test('is a new call with another correlation id, and after a dial that was never sent', async () => {
    const first = await centers[0].beginDial(like(), CLIENT)
    await centers[0].abandon(first.call)
    const second = await centers[0].beginDial(like(), CLIENT)
    expect(second.again).toBe(false)
    await centers[0].abandon(second.call)
    expect((await centers[0].beginDial(like('crm-4712'), CLIENT)).again).toBe(false)
  })
})

describe('recording platform reports', () => {
  test('two replicas with the same report at the same time make one event', async () => {
    const { callId } = await begin(0, aDial())
    await Promise.all([tell(0, report(callId)), tell(1, report(callId)), tell(0, report(callId))])
    expect((await centers[1].findCall(tenant, callId))?.legs[AGENT]?.status).toMatchObject({ state: 1, sequence: 1 })
    const events = await takeEvents()
    expect(events.map(({ eventType }) => eventType).toSorted()).toEqual(['agent.status', 'call.status'])
  })

  test('an agent is free again when the call has ended, and the ended call is remembered', async () => {
    const { callId } = await begin(0, aDial())
    await tell(0, report(callId))
    await tell(1, report(callId, { state: CallState.ended, order: 2 }))
    await begin(1, aDial())
    expect((await centers[0].findCall(tenant, callId))?.legs[AGENT]?.status.state).toBe(CallState.ended)
  })

  test('a call of one tenant does not exist for another', async () => {
    const { callId } = await begin(0, aDial())
    await expect(centers[0].findCall(randomUUID(), callId)).resolves.toBeUndefined()
  })
})

describe('probing a silent call', () => {
  const probeNow = (callId: CallId): Promise<void> => centers[0].probeTimerDue({ tenant, payload: { callId } })
  const probe = (callId: CallId): Promise<void> => {
    aheadMs = PROBE_SILENT_MS + 1_000
    return probeNow(callId)
  }

  test('waits for the rest of the time if the call has changed since its timer was set', async () => {
    const { callId } = await begin(0, aDial())
    await tell(0, report(callId, { state: CallState.connected }))
    aheadMs = PROBE_SILENT_MS / 2
    await probeNow(callId)
    expect((await centers[0].findCall(tenant, callId))?.legs[AGENT]?.status.state).toBe(CallState.connected)
    await probe(callId)
    expect((await centers[0].findCall(tenant, callId))?.legs[AGENT]?.status.state).toBe(CallState.ended)
  })

  test('ends it if the platform does not know it, and the agent is free', async () => {
    const { callId } = await begin(0, aDial())
    await tell(0, report(callId, { state: CallState.connected }))
    await probe(callId)
    const leg = (await centers[0].findCall(tenant, callId))?.legs[AGENT]?.status
    expect(leg).toMatchObject({ state: CallState.ended, endReason: 12 })
    expect((await centers[0].readAgent(tenant, AGENT)).calls).toEqual([])
  })

  test('records the missed reports, and probes again later while the call lives', async () => {
    const { callId } = await begin(0, aDial())
    await tell(0, report(callId))
    known = [report(callId, { state: CallState.connected, order: 5 })]
    await probe(callId)
    expect((await centers[0].findCall(tenant, callId))?.legs[AGENT]?.status.state).toBe(CallState.connected)
    expect(await createTimerStore(redis[0]).claimDue(10, 1_000)).toEqual([])
  })

  test('ends a dial that was never reported, unless its client got an error for it', async () => {
    const lost = await begin(0, aDial())
    await probe(lost.callId)
    expect((await centers[0].findCall(tenant, lost.callId))?.legs[AGENT]?.status).toMatchObject({
      state: 7,
      sequence: 2,
    })
    await takeEvents()

    const refused = await begin(0, aDial())
    await centers[0].abandon(refused)
    await probe(refused.callId)
    expect(await takeEvents()).toEqual([])
  })
})

describe('reports together with records of the platform adapter', () => {
  const own = (expectedVersion: number) => ({
    records: [{ key: 'simulated:1', expectedVersion, value: { expectedVersion } }],
    timers: [],
  })
  const ownRecord = async () => (await createStateStore(redis[0]).read(tenant, ['simulated:1']))[0]

  test('are stored in one step', async () => {
    const callId = newCallId()
    expect(await recordWith[0]([report(callId)], own(0))).toBe('committed')
    expect(await ownRecord()).toMatchObject({ version: 1 })
    expect(await takeEvents()).toHaveLength(2)
  })

  test('are not stored if a record of the adapter has another version', async () => {
    const callId = newCallId()
    await recordWith[1]([report(newCallId())], own(0))
    await takeEvents()
    expect(await recordWith[0]([report(callId)], own(0))).toBe('conflict')
    expect(await centers[0].findCall(tenant, callId)).toBeUndefined()
    expect(await takeEvents()).toEqual([])
  })

  test('are stored if only the agent was changed meanwhile', async () => {
    const calls = Array.from({ length: 10 }, () => newCallId())
    const results = await Promise.all(
      calls.map((callId, at) =>
        recordWith[at % 2 === 0 ? 0 : 1]([report(callId)], {
          records: [{ key: `simulated:${callId}`, expectedVersion: 0, value: 1 }],
          timers: [],
        }),
      ),
    )
    expect(results).toEqual(calls.map(() => 'committed'))
    expect((await centers[0].readAgent(tenant, AGENT)).calls).toHaveLength(10)
  })

  test('the records are stored even if the reports say nothing new', async () => {
    const callId = newCallId()
    await tell(0, report(callId))
    await takeEvents()
    expect(await recordWith[0]([report(callId)], own(0))).toBe('committed')
    expect(await ownRecord()).toMatchObject({ version: 1 })
    expect(await takeEvents()).toEqual([])
  })
})
