import {
  CallState,
  type CallStatus,
  CommandNumber,
  callStatusSchema,
  compileSchema,
  EndedBy,
  EndReason,
  newCommandId,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'
import fc from 'fast-check'
import type { LegReport } from '../platform.ts'
import { aReport } from '../testing/report.ts'
import { applyReport, type Leg, NEXT } from './leg.ts'

const { initiated, alerting, proceeding, connected, held, ended, unknown } = CallState

/** Applies reports in turn; answers the events that they made. */
function tell(...reports: LegReport[]): CallStatus[] {
  const events: CallStatus[] = []
  let leg: Leg | undefined
  for (const report of reports) {
    const next = applyReport(leg, report)
    if (next === undefined) continue
    leg = next
    events.push(next.status)
  }
  return events
}

const states = (...list: CallState[]): LegReport[] => list.map((state, at) => aReport({ state, order: at + 1 }))
const told = (events: readonly CallStatus[]) => events.map(({ state }) => state)

test('an outbound call that is answered, held, resumed and ended goes 1, 8, 3, 4, 3, 7 with a gapless sequence', () => {
  const events = tell(...states(initiated, proceeding, connected, held, connected, ended))
  expect(told(events)).toEqual([1, 8, 3, 4, 3, 7])
  expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6])
  expect(events.map(({ previousState }) => previousState)).toEqual([0, 1, 8, 3, 4, 3])
  expect(events.map((event) => event.held)).toEqual([false, false, false, true, false, false])
})

test('times: it starts with the first report, is answered once, and lasts from the answer to the end in whole seconds', () => {
  const events = tell(...states(initiated, proceeding, connected, held, connected, ended))
  const [first, , third, , fifth, last] = events
  expect(first).toMatchObject({ startedAt: first?.occurredAt, answeredAt: null, endedAt: null, durationSeconds: null })
  expect(fifth?.answeredAt).toBe(third?.occurredAt)
  expect(last).toMatchObject({
    startedAt: first?.occurredAt,
    answeredAt: third?.occurredAt,
    endedAt: last?.occurredAt,
    durationSeconds: 3,
  })
})

test('a call that was never answered lasts 0 seconds, and says why and by whom it ended', () => {
  const ending = { endReason: EndReason.busy, endedBy: EndedBy.remote, cause: 17, sipCode: 486 }
  const [, last] = tell(aReport(), aReport({ order: 2, state: ended, ending }))
  expect(last).toMatchObject({ state: 7, answeredAt: null, durationSeconds: 0, ...ending })
})

test('a report that is told again, or that comes too late, changes nothing', () => {
  const [first, second, third] = states(initiated, proceeding, connected)
  if (first === undefined || second === undefined || third === undefined) throw new Error('three were made')
  expect(told(tell(first, first, third, second, first, third))).toEqual([1, 3])
})

test('a newer report that says nothing new makes no event, however it is timed and whoever brought it about', () => {
  expect(tell(aReport(), aReport({ order: 2, commandId: newCommandId() }))).toHaveLength(1)
})

test('a command that came to nothing is told, on an event whose state has not changed', () => {
  const failedCommand = { commandId: newCommandId(), command: 'hold' as const, reason: EndReason.failed }
  const [, , last] = tell(
    aReport(),
    aReport({ order: 2, state: connected }),
    aReport({ order: 3, state: connected, failedCommand }),
  )
  expect(last).toMatchObject({
    state: connected,
    previousState: connected,
    sequence: 3,
    held: false,
    commandResult: { ...failedCommand, command: CommandNumber.hold, result: 2 },
  })
})

test.each<[string, Partial<LegReport>]>([
  ['held by the other side', { remoteHeld: true }],
  ['taken over by another party', { remoteParty: { uri: 'tel:+15550111', number: '+15550111', name: null, type: 3 } }],
  [
    'being transferred',
    {
      transfer: {
        blind: true,
        target: '+15550111',
        role: TransferRole.transferring,
        status: TransferStatus.started,
        failReason: EndReason.none,
        otherCallId: null,
      },
    },
  ],
])('a leg that is %s is told without a change of state', (_name, change) => {
  const events = tell(aReport({ state: connected }), aReport({ state: connected, order: 2, ...change }))
  expect(told(events)).toEqual([3, 3])
  expect(events[1]).toMatchObject(change)
})

describe('whatever platform reports, in whatever order', () => {
  const anyState = fc.constantFrom(unknown, initiated, alerting, proceeding, connected, held, ended)
  const anyReport = fc
    .record({ state: anyState, order: fc.integer({ min: 1, max: 12 }), remoteHeld: fc.boolean() })
    .map(aReport)
  const anyReports = fc.array(anyReport, { maxLength: 40 })
  const isValid = compileSchema<CallStatus>(callStatusSchema)

  test('sequences are gapless, no step is one that the table forbids, and nothing follows the one end', () => {
    fc.assert(
      fc.property(anyReports, (reports) => {
        const events = tell(...reports)
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, at) => at + 1))
        events.slice(1).forEach((event, at) => {
          expect(event.previousState).toBe(events[at]?.state)
          if (event.state !== event.previousState) expect(NEXT[event.previousState]).toContain(event.state)
        })
        const end = told(events).indexOf(ended)
        expect(end === -1 || end === events.length - 1).toBe(true)
      }),
    )
  })

  test('every snapshot is as documented, and ended exactly where it has an end', () => {
    fc.assert(
      fc.property(anyReports, (reports) => {
        for (const event of tell(...reports)) {
          expect(isValid(event)).toMatchObject({ ok: true })
          expect(event.endedAt !== null).toBe(event.state === ended)
          expect(event.endReason !== EndReason.none).toBe(event.state === ended)
          expect(event.held).toBe(event.state === held)
        }
      }),
    )
  })

  test('reports told again in any order after the last one change nothing', () => {
    fc.assert(
      fc.property(anyReports, fc.func(fc.integer()), (reports, shuffle) => {
        const before = tell(...reports)
        const again = reports.toSorted((a, b) => shuffle(a) - shuffle(b))
        const accepted = new Set(before.map(({ occurredAt }) => occurredAt))
        const late = again.filter(({ at }) => accepted.has(at) && at <= (before.at(-1)?.occurredAt ?? ''))
        expect(tell(...reports, ...late)).toEqual(before)
      }),
    )
  })
})
