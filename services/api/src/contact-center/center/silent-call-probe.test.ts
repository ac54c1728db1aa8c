import { CallState, EndReason, newCallId, newCommandId } from '@switchhook/contracts'
import { applyReport, type LegReport } from '@switchhook/platform'
import { aReport } from '@switchhook/servicekit'
import { type Call, newCall } from './call.ts'
import { PROBE_SILENT_MS, reportsOfProbe, untilProbeMs } from './silent-call-probe.ts'

const AT = '2026-01-01T01:00:00.000Z'
const BOB = 'sip:bob@acme.example'

function aCall(...reports: LegReport[]): Call {
  const callId = reports[0]?.callId ?? newCallId()
  const legs = reports.flatMap((report) => {
    const leg = applyReport(undefined, report)
    return leg === undefined ? [] : [[report.agentUri, leg] as const]
  })
  return { ...newCall({ callId, tenant: 'acme' }, AT), legs: Object.fromEntries(legs) }
}

test('a live leg that the platform no longer knows ends with platformLost, in a report newer than all earlier ones', () => {
  const report = aReport({ state: CallState.connected, order: 7 })
  const call = aCall(report)
  const [end, ...more] = reportsOfProbe(call, [], AT)
  expect(more).toEqual([])
  expect(end).toMatchObject({ state: CallState.ended, at: AT, ending: { endReason: EndReason.platformLost } })
  if (end === undefined) throw new Error('there is one')
  expect(applyReport(call.legs[report.agentUri], end)?.status).toMatchObject({ state: 7, endReason: 12, sequence: 2 })
})

test('reports of the platform are passed on, and only the other legs are lost', () => {
  const mine = aReport({ state: CallState.connected })
  const bobs = aReport({ agentUri: BOB, state: CallState.connected })
  const reported = [aReport({ order: 2, state: CallState.held })]
  const recorded = reportsOfProbe(aCall(mine, bobs), reported, AT)
  expect(recorded.map(({ agentUri, state }) => [agentUri, state])).toEqual([
    [mine.agentUri, CallState.held],
    [BOB, CallState.ended],
  ])
})

test('an ended leg stays unchanged', () => {
  expect(reportsOfProbe(aCall(aReport({ state: CallState.ended })), [], AT)).toEqual([])
})

describe('a dial that the platform has never reported', () => {
  const dialled = {
    agentUri: 'sip:alice@acme.example',
    destination: '+15550100',
    cli: null,
    correlationId: 'crm-4711',
    commandId: newCommandId(),
  }

  test('ends with platformLost if the platform does not know it, because the client waits for an end', () => {
    const [end] = reportsOfProbe({ ...aCall(), dialled }, [], AT)
    expect(end).toMatchObject({
      state: CallState.ended,
      correlationId: 'crm-4711',
      commandId: dialled.commandId,
      ending: { endReason: EndReason.platformLost },
    })
  })

  test('gets no event if the client got an error for it', () => {
    expect(reportsOfProbe({ ...aCall(), dialled, isAbandoned: true }, [], AT)).toEqual([])
  })

  test('is recorded as the platform reports it, if the platform knows it', () => {
    const reported = [aReport({ state: CallState.proceeding })]
    expect(reportsOfProbe({ ...aCall(), dialled }, reported, AT)).toEqual(reported)
  })
})

test.each([
  ['long before', -PROBE_SILENT_MS, 0],
  ['a minute ago', -60_000, PROBE_SILENT_MS - 60_000],
  ['by a clock that is ahead', 60_000, PROBE_SILENT_MS],
])('a call that changed %s is probed after the rest of five minutes', (_when, changedInMs, expected) => {
  const nowMs = Date.parse(AT)
  const call = aCall(aReport({ at: new Date(nowMs + changedInMs).toISOString() }), aReport({ agentUri: BOB }))
  expect(untilProbeMs(call, nowMs)).toBe(expected)
})
