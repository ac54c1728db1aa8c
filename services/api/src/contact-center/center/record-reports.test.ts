import { CallState, newCallId, newCommandId } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'
import { aReport } from '@switchhook/servicekit'
import type { Writing } from '../../state/transact.ts'
import { type Agent, agentKey } from './agent.ts'
import { callKey, callRecord, newCall, REMEMBERED_MS } from './call.ts'
import { keysOf, recordReports } from './record-reports.ts'
import { probeTimer } from './silent-call-probe.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const WRAP_UP_MS = 10_000
const NOW_MS = Date.UTC(2026, 0, 1, 0, 1)

/** Records reports step by step, like the store, and returns the writes of the last step. */
function recordAll(...steps: LegReport[][]): Writing | undefined {
  const stored = new Map<string, unknown>()
  let last: Writing | undefined
  for (const reports of steps) {
    last = recordReports(stored, reports, WRAP_UP_MS, NOW_MS)
    for (const { key, value } of last?.records ?? []) stored.set(key, value)
  }
  return last
}

const eventsOf = (writing: Writing | undefined) =>
  (writing?.events ?? []).map(({ eventType, data }) => [eventType, data['agentUri'], data['sequence']])

test('one step holds the call, its agent, an event for each, and the timer of the silent-call probe', () => {
  const report = aReport()
  const writing = recordAll([report])
  expect(writing?.records.map(({ key }) => key)).toEqual([callKey(report.callId), agentKey(ALICE)])
  expect(eventsOf(writing)).toEqual([
    ['call.status', ALICE, 1],
    ['agent.status', ALICE, 1],
  ])
  expect(writing?.timers?.map(({ id }) => id)).toContain(probeTimer(report.callId, 0).id)
})

test('the timer of the probe is set once, with the first live leg of a call', () => {
  const { callId } = aReport()
  const timersAfter = (...steps: LegReport[][]) => recordAll(...steps)?.timers?.map(({ id }) => id)
  expect(timersAfter([aReport()], [aReport({ order: 2, state: CallState.proceeding })])).toEqual([])
  const stored = new Map<string, unknown>([[callKey(callId), newCall({ callId, tenant: 'acme' }, aReport().at)]])
  expect(recordReports(stored, [aReport()], WRAP_UP_MS, NOW_MS)?.timers?.map(({ id }) => id)).toEqual([
    probeTimer(callId, 0).id,
  ])
})

test('both legs of a call between agents are stored in one step', () => {
  const bobs = aReport({ agentUri: BOB, state: CallState.alerting, direction: 1 })
  const writing = recordAll([aReport()], [aReport({ order: 2, state: CallState.proceeding }), bobs])
  expect(writing?.records.filter(({ key }) => key.startsWith('call:'))).toHaveLength(1)
  expect(eventsOf(writing)).toEqual([
    ['call.status', ALICE, 2],
    ['call.status', BOB, 1],
    ['agent.status', BOB, 1],
  ])
})

test('legs of one agent in two calls change the agent once', () => {
  const other = newCallId()
  const writing = recordAll(
    [aReport({ state: CallState.connected })],
    [aReport({ order: 2, state: CallState.held }), aReport({ callId: other, state: CallState.alerting })],
  )
  expect(eventsOf(writing).filter(([type]) => type === 'agent.status')).toHaveLength(1)
})

test('a call that the platform reports is not abandoned, although an earlier request for it failed', () => {
  const { callId } = aReport()
  const abandoned = { ...newCall({ callId, tenant: 'acme' }, aReport().at), isAbandoned: true }
  const [call] = recordReports(new Map([[callKey(callId), abandoned]]), [aReport()], WRAP_UP_MS, NOW_MS)?.records ?? []
  expect(call?.value).toMatchObject({ isAbandoned: false })
})

test('a repeated report writes nothing', () => {
  expect(recordAll([aReport()], [aReport()])).toBeUndefined()
})

describe('the first event of a dialled leg is `initiated`', () => {
  const dialledAt = '2025-12-31T23:59:59.000Z'
  const { callId, agentUri } = aReport()
  const dialled = { agentUri, destination: '+15550100', cli: null, correlationId: null, commandId: newCommandId() }
  const stored = new Map<string, unknown>([
    [callKey(callId), { ...newCall({ callId, tenant: 'acme' }, dialledAt), dialled }],
  ])
  const recorded = (report: Partial<LegReport>) =>
    (recordReports(stored, [aReport(report)], WRAP_UP_MS, NOW_MS)?.events ?? [])
      .filter(({ eventType }) => eventType === 'call.status')
      .map(({ occurredAt, data }) => [data['sequence'], data['state'], data['commandId'], occurredAt])
  const { at } = aReport()

  test.each([CallState.proceeding, CallState.connected, CallState.held, CallState.ended])(
    'also if the platform reports state %d first, because its first report was lost',
    (state) => {
      expect(recorded({ state })).toEqual([
        [1, CallState.initiated, dialled.commandId, dialledAt],
        [2, state, null, at],
      ])
    },
  )

  test('and nothing is added to a first report that says so, nor to the leg of another agent', () => {
    expect(recorded({})).toEqual([[1, CallState.initiated, null, at]])
    expect(recorded({ agentUri: BOB, state: CallState.connected })).toEqual([[1, CallState.connected, null, at]])
  })
})

test('a live call does not expire; an ended call is kept for ten minutes', () => {
  const [live] = recordAll([aReport()])?.records ?? []
  expect(live?.ttlMs).toBeUndefined()
  const over = recordAll([aReport()], [aReport({ order: 2, state: CallState.ended })])
  expect(over?.records[0]?.ttlMs).toBe(REMEMBERED_MS)
  expect(REMEMBERED_MS).toBeGreaterThanOrEqual(5 * 60_000)
  expect(over?.timers?.map(({ id }) => id)).not.toContain(probeTimer(aReport().callId, 0).id)
})

test('a dial that was not reported does not expire during an outage: its probe ends it', () => {
  const dialled = {
    agentUri: ALICE,
    destination: '+15550100',
    cli: null,
    correlationId: null,
    commandId: newCommandId(),
  }
  const call = { ...newCall(aReport(), aReport().at), dialled }
  expect(callRecord(call).ttlMs).toBeUndefined()
  expect(callRecord({ ...call, isAbandoned: true }).ttlMs).toBe(REMEMBERED_MS)
})

test('an end that is reported again after an outage, in which Redis has forgotten the call, is no news', () => {
  const end = aReport({ order: 2, state: CallState.ended })
  const recordedAfter = (awayMs: number) => recordReports(new Map(), [end], WRAP_UP_MS, Date.parse(end.at) + awayMs)
  expect(recordedAfter(REMEMBERED_MS)).toBeUndefined()
  // Of a call that was never recorded, or not by this replica's clock.
  expect(eventsOf(recordedAfter(1_000))).toEqual([['call.status', ALICE, 1]])
})

test('the clock of the replica that reported before, ahead of ours, moves the times of events but not those of statuses', () => {
  const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  const stored = new Map<string, unknown>()
  const record = (report: LegReport, wrapUpMs: number): Writing | undefined => {
    const writing = recordReports(stored, [report], wrapUpMs, NOW_MS)
    for (const { key, value } of writing?.records ?? []) stored.set(key, value)
    return writing
  }
  record(aReport({ state: CallState.connected, at: at(25) }), 0)
  const pending = { statusCode: 66, until: at(20), message: null, location: null }
  stored.set(agentKey(ALICE), { ...(stored.get(agentKey(ALICE)) as Agent), pending })
  const alice = stored.get(agentKey(ALICE))

  const over = record(aReport({ order: 2, state: CallState.ended, at: at(5) }), 0)
  expect(stored.get(agentKey(ALICE))).toMatchObject({ temporary: { statusCode: 66, until: at(20) } })
  expect(over?.timers).toEqual([expect.objectContaining({ dueInMs: 15_000 })])
  expect(over?.events?.map(({ occurredAt }) => occurredAt > at(25))).toEqual([true, true])

  stored.set(agentKey(ALICE), alice)
  stored.delete(callKey(aReport().callId))
  record(aReport({ state: CallState.connected, at: at(25) }), 10_000)
  record(aReport({ order: 2, state: CallState.ended, at: at(5) }), 10_000)
  expect(stored.get(agentKey(ALICE))).toMatchObject({ overlay: { kind: 'wrap-up', until: at(15) } })
})

test('every key is read once', () => {
  const keys = keysOf([aReport(), aReport({ agentUri: BOB }), aReport({ order: 2 })])
  expect(keys).toEqual([callKey(aReport().callId), agentKey(ALICE), agentKey(BOB)])
})
