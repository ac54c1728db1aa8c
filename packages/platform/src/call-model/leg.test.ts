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

/** Applies the reports in order and returns the events that they make. */
function eventsOf(...reports: LegReport[]): CallStatus[] {
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

const reportsOf = (...list: CallState[]): LegReport[] => list.map((state, at) => aReport({ state, order: at + 1 }))
const statesOf = (events: readonly CallStatus[]) => events.map(({ state }) => state)

test('an outbound call that is answered, held, resumed and ended goes 1, 8, 3, 4, 3, 7 with a gapless sequence', () => {
  const events = eventsOf(...reportsOf(initiated, proceeding, connected, held, connected, ended))
  expect(statesOf(events)).toEqual([1, 8, 3, 4, 3, 7])
  expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6])
  expect(events.map(({ previousState }) => previousState)).toEqual([0, 1, 8, 3, 4, 3])
  expect(events.map((event) => event.held)).toEqual([false, false, false, true, false, false])
})

test('a call starts with its first report, is answered once, and its duration is counted from answer to end in whole seconds', () => {
  const events = eventsOf(...reportsOf(initiated, proceeding, connected, held, connected, ended))
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

test('an unanswered call has duration 0, an end reason and the party that ended it', () => {
  const ending = { endReason: EndReason.busy, endedBy: EndedBy.remote, cause: 17, sipCode: 486 }
  const [, last] = eventsOf(aReport(), aReport({ order: 2, state: ended, ending }))
  expect(last).toMatchObject({ state: 7, answeredAt: null, durationSeconds: 0, ...ending })
})

test('a repeated or late report changes nothing', () => {
  const [first, second, third] = reportsOf(initiated, proceeding, connected)
  if (first === undefined || second === undefined || third === undefined) throw new Error('three reports expected')
  expect(statesOf(eventsOf(first, first, third, second, first, third))).toEqual([1, 3])
})

test('a newer report that differs only in its time and command makes no event', () => {
  expect(eventsOf(aReport(), aReport({ order: 2, commandId: newCommandId() }))).toHaveLength(1)
})

test('a field that a later version has stored stays, and is no news', () => {
  const later = applyReport(undefined, aReport({ order: 1 }))
  if (later === undefined) throw new Error('no leg')
  const leg = { ...later, status: { ...later.status, ofLaterVersion: 1 } }
  expect(applyReport(leg, aReport({ order: 2 }))).toBeUndefined()
  expect(applyReport(leg, aReport({ order: 3, state: proceeding }))?.status).toMatchObject({ ofLaterVersion: 1 })
})

test('a failed command makes an event without a change of state', () => {
  const failedCommand = { commandId: newCommandId(), command: 'hold' as const, reason: EndReason.failed }
  const [, , last] = eventsOf(
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

test('a command whose result was there already makes an event, once', () => {
  const commandId = newCommandId()
  const done = { state: connected, doneCommand: { commandId, command: 'resume' as const } }
  const events = eventsOf(
    aReport({ state: connected }),
    aReport({ ...done, order: 2, commandId }),
    aReport({ state: connected, order: 3, remoteHeld: true }),
  )
  expect(events.map(({ commandResult }) => commandResult)).toEqual([
    null,
    { commandId, command: CommandNumber.resume, result: 1, reason: EndReason.none },
    null,
  ])
})

test.each<[string, Partial<LegReport>]>([
  ['held by the remote party', { remoteHeld: true }],
  ['connected to another party', { remoteParty: { uri: 'tel:+15550111', number: '+15550111', name: null, type: 3 } }],
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
])('a leg that is %s makes an event without a change of state', (_name, change) => {
  const events = eventsOf(aReport({ state: connected }), aReport({ state: connected, order: 2, ...change }))
  expect(statesOf(events)).toEqual([3, 3])
  expect(events[1]).toMatchObject(change)
})

describe('for any reports in any order', () => {
  const anyState = fc.constantFrom(unknown, initiated, alerting, proceeding, connected, held, ended)
  const anyReport = fc
    .record({ state: anyState, order: fc.integer({ min: 1, max: 12 }), remoteHeld: fc.boolean() })
    .map(aReport)
  const anyReports = fc.array(anyReport, { maxLength: 40 })
  const isValid = compileSchema<CallStatus>(callStatusSchema)

  test('sequences are gapless, every transition is allowed, and no event follows the end', () => {
    fc.assert(
      fc.property(anyReports, (reports) => {
        const events = eventsOf(...reports)
        expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_event, at) => at + 1))
        events.slice(1).forEach((event, at) => {
          expect(event.previousState).toBe(events[at]?.state)
          if (event.state !== event.previousState) expect(NEXT[event.previousState]).toContain(event.state)
        })
        const end = statesOf(events).indexOf(ended)
        expect(end === -1 || end === events.length - 1).toBe(true)
      }),
    )
  })

  test('whatever the clocks of the reporting processes say, time goes forward with the sequence, by 1 ms at least', () => {
    const anySecond = fc.integer({ min: -20, max: 20 })
    fc.assert(
      fc.property(fc.array(fc.tuple(anyReport, anySecond), { maxLength: 40 }), (reports) => {
        const events = eventsOf(
          ...reports.map(([report, second]) => ({ ...report, at: new Date(second * 1_000).toISOString() })),
        )
        events.slice(1).forEach(({ occurredAt, startedAt, answeredAt, endedAt }, at) => {
          expect(Date.parse(occurredAt)).toBeGreaterThan(Date.parse(events[at]?.occurredAt ?? ''))
          const times = [startedAt, answeredAt, endedAt].filter((time) => time !== null)
          expect(times).toEqual(times.toSorted())
        })
      }),
    )
  })

  test('every snapshot matches its schema, and has end fields if and only if its state is ended', () => {
    fc.assert(
      fc.property(anyReports, (reports) => {
        for (const event of eventsOf(...reports)) {
          expect(isValid(event)).toMatchObject({ ok: true })
          expect(event.endedAt !== null).toBe(event.state === ended)
          expect(event.endReason !== EndReason.none).toBe(event.state === ended)
          expect(event.held).toBe(event.state === held)
        }
      }),
    )
  })

  test('reports that are repeated in any order after the last one change nothing', () => {
    fc.assert(
      fc.property(anyReports, fc.func(fc.integer()), (reports, shuffle) => {
        const before = eventsOf(...reports)
        const again = reports.toSorted((a, b) => shuffle(a) - shuffle(b))
        const accepted = new Set(before.map(({ occurredAt }) => occurredAt))
        const late = again.filter(({ at }) => accepted.has(at) && at <= (before.at(-1)?.occurredAt ?? ''))
        expect(eventsOf(...reports, ...late)).toEqual(before)
      }),
    )
  })
})
