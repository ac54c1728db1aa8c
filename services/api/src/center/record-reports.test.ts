import { CallState, isGuid, newCallId } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'
import { type Agent, agentKey, newAgent } from '../agents/agent.ts'
import { callKey, REMEMBERED_MS } from '../calls/call.ts'
import { probeTimer } from '../calls/silent-call-probe.ts'
import type { Writing } from '../state/transact.ts'
import { aReport } from '../testing/report.ts'
import { keysOf, recordReports } from './record-reports.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const options = { wrapUpMs: 10_000 }

/** Records reports step by step, like the store, and returns the writes of the last step. */
function recordAll(...steps: LegReport[][]): Writing | undefined {
  const stored = new Map<string, unknown>()
  let last: Writing | undefined
  for (const reports of steps) {
    last = recordReports(stored, reports, options)
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

test('a repeated report writes nothing', () => {
  expect(recordAll([aReport()], [aReport()])).toBeUndefined()
})

test('a live call does not expire; an ended call is kept for ten minutes', () => {
  const [live] = recordAll([aReport()])?.records ?? []
  expect(live?.ttlMs).toBeUndefined()
  const over = recordAll([aReport()], [aReport({ order: 2, state: CallState.ended })])
  expect(over?.records[0]?.ttlMs).toBe(REMEMBERED_MS)
  expect(REMEMBERED_MS).toBeGreaterThanOrEqual(5 * 60_000)
  expect(over?.timers?.map(({ id }) => id)).not.toContain(probeTimer(aReport().callId, 0).id)
})

test('an agent record keeps its stream id, from which processes of the previous version derive event ids', () => {
  const streamOf = (writing: Writing | undefined) =>
    (writing?.records.find(({ key }) => key === agentKey(ALICE))?.value as Agent | undefined)?.stream
  expect(isGuid(streamOf(recordAll([aReport()])))).toBe(true)
  const stored = new Map<string, unknown>([[agentKey(ALICE), { ...newAgent(ALICE), stream: 'as it was stored' }]])
  expect(streamOf(recordReports(stored, [aReport()], options))).toBe('as it was stored')
})

test('every key is read once', () => {
  const keys = keysOf([aReport(), aReport({ agentUri: BOB }), aReport({ order: 2 })])
  expect(keys).toEqual([callKey(aReport().callId), agentKey(ALICE), agentKey(BOB)])
})
