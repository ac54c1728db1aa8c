import type { Outcome, RetrySchedule } from '@switchhook/contracts'
import fc from 'fast-check'
import {
  type Decision,
  decide,
  decisionOnReceived,
  postponementsMs,
  type Withheld,
  withinWaitingLimit,
} from './decide.ts'

const WAITS_MS = [10_000, 60_000]
const COOLDOWN_MS = 30_000
const PROBING = { kind: 'cooling', isProbing: true } as const
const answered = (status: number): Outcome => ({ kind: 'answered', status })

describe('decide', () => {
  test.each<[string, Outcome | Withheld, number, Decision]>([
    ['a 2xx is acknowledged', { kind: 'delivered', status: 204 }, 0, { kind: 'acknowledged' }],
    ['a 2xx in the last slot is acknowledged', { kind: 'delivered', status: 200 }, 2, { kind: 'acknowledged' }],
    ['a withdrawn delivery ends', { kind: 'withdrawn' }, 0, { kind: 'withdrawn' }],
    [
      'a withdrawn delivery that was parked before is parked again',
      { kind: 'withdrawn', wasParked: true },
      0,
      { kind: 'park', reason: 'exhausted', cause: 'withdrawn' },
    ],
    ['an expired delivery ends', { kind: 'expired' }, 0, { kind: 'expired' }],
    ['an expired delivery ends in the last slot, too', { kind: 'expired' }, 2, { kind: 'expired' }],
    ['a cool-down uses up the slot', { kind: 'cooling' }, 0, { kind: 'retry', slot: 1, waitMs: 10_000 }],
    ['a cool-down uses up a later slot', { kind: 'cooling' }, 1, { kind: 'retry', slot: 2, waitMs: 60_000 }],
    [
      'a secret that cannot be decrypted uses up the slot',
      { kind: 'unsignable' },
      0,
      { kind: 'retry', slot: 1, waitMs: 10_000 },
    ],
    [
      'a secret of a deleted subscription that cannot be decrypted uses up the last slot: no rotation can replace it',
      { kind: 'unsignable', isFinal: true },
      2,
      { kind: 'park', reason: 'exhausted' },
    ],
    [
      'a held delivery stays in its slot',
      { kind: 'held', visitInMs: 60_000 },
      1,
      { kind: 'hold', slot: 1, waitMs: 0, visitInMs: 60_000 },
    ],
    [
      'so does one whose lease ended, and it is due immediately',
      { kind: 'unreachable', reason: 'lapsed' },
      2,
      { kind: 'hold', slot: 2, waitMs: 0, visitInMs: 600_000 },
    ],
    ['503 is retried', answered(503), 1, { kind: 'retry', slot: 2, waitMs: 60_000 }],
    ['a timeout is retried', { kind: 'unreachable', reason: 'timeout' }, 1, { kind: 'retry', slot: 2, waitMs: 60_000 }],
    [
      'a failed connection is retried',
      { kind: 'unreachable', reason: 'refused' },
      0,
      { kind: 'retry', slot: 1, waitMs: 10_000 },
    ],
    ['400 is parked immediately', answered(400), 0, { kind: 'park', reason: 'rejected' }],
    ['410 is parked immediately', answered(410), 1, { kind: 'park', reason: 'rejected' }],
    ['a redirect is parked immediately', answered(302), 0, { kind: 'park', reason: 'rejected' }],
    ['a transient failure in the last slot is parked', answered(500), 2, { kind: 'park', reason: 'exhausted' }],
    [
      'so is a timeout in the last slot',
      { kind: 'unreachable', reason: 'timeout' },
      2,
      { kind: 'park', reason: 'exhausted' },
    ],
    [
      'a transient failure in a slot beyond a shortened schedule is parked',
      answered(500),
      7,
      { kind: 'park', reason: 'exhausted' },
    ],
  ])('%s', (_name, outcome, slot, expected) => {
    expect(decide(outcome, { slot }, { waitsMs: WAITS_MS, cooldownMs: COOLDOWN_MS })).toEqual(expected)
  })

  test('408, 425, 429 and every 5xx are retried; any other 3xx and 4xx is parked immediately', () => {
    const isRetried = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500
    for (let status = 300; status < 600; status += 1) {
      const { kind } = decide(answered(status), { slot: 0 }, { waitsMs: WAITS_MS, cooldownMs: COOLDOWN_MS })
      expect([status, kind]).toEqual([status, isRetried(status) ? 'retry' : 'park'])
    }
  })

  const EXHAUSTED: Decision = { kind: 'park', reason: 'exhausted' }
  const LONG: RetrySchedule = { waitsMs: [10_000, 60_000, 300_000], cooldownMs: COOLDOWN_MS }

  test.each<[string, Withheld, { slot: number; postponed?: number }, Decision]>([
    [
      'a cool-down does not use up the last slot',
      { kind: 'cooling' },
      { slot: 3 },
      { kind: 'postpone', slot: 3, postponed: 1, waitMs: 30_000 },
    ],
    [
      'nor a slot beyond a shortened schedule',
      { kind: 'cooling' },
      { slot: 5 },
      { kind: 'postpone', slot: 5, postponed: 1, waitMs: 30_000 },
    ],
    [
      'a postponed slot waits for longer each time',
      { kind: 'cooling' },
      { slot: 3, postponed: 2 },
      { kind: 'postpone', slot: 3, postponed: 3, waitMs: 300_000 },
    ],
    [
      'and is parked after the longest wait, if the endpoint failed again',
      { kind: 'cooling' },
      { slot: 3, postponed: 3 },
      EXHAUSTED,
    ],
    [
      'also if it was postponed more often, under a longer schedule',
      { kind: 'cooling' },
      { slot: 3, postponed: 40 },
      EXHAUSTED,
    ],
    [
      'unless another worker is making the probe',
      PROBING,
      { slot: 3, postponed: 3 },
      { kind: 'postpone', slot: 3, postponed: 4, waitMs: 30_000 },
    ],
    [
      'a probe of another worker uses up no slot: it may be answered, or not be sent at all',
      PROBING,
      { slot: 0 },
      { kind: 'postpone', slot: 0, postponed: 1, waitMs: 30_000 },
    ],
    [
      'while probes follow each other, the slot waits for longer each time',
      PROBING,
      { slot: 1, postponed: 1 },
      { kind: 'postpone', slot: 1, postponed: 2, waitMs: 60_000 },
    ],
    [
      'up to the longest wait, without a limit',
      PROBING,
      { slot: 1, postponed: 40 },
      { kind: 'postpone', slot: 1, postponed: 41, waitMs: 300_000 },
    ],
    [
      'a cool-down then uses up the slot',
      { kind: 'cooling' },
      { slot: 1, postponed: 40 },
      { kind: 'retry', slot: 2, waitMs: 60_000 },
    ],
    [
      'a former last slot continues on a schedule that became longer',
      { kind: 'cooling' },
      { slot: 2, postponed: 9 },
      { kind: 'retry', slot: 3, waitMs: 300_000 },
    ],
    [
      'a secret that cannot be decrypted does not use up the last slot, and does not count as a cool-down',
      { kind: 'unsignable' },
      { slot: 3, postponed: 3 },
      { kind: 'postpone', slot: 4, waitMs: 30_000 },
    ],
    [
      'and waits for it without a limit',
      { kind: 'unsignable' },
      { slot: 50 },
      { kind: 'postpone', slot: 51, waitMs: 300_000 },
    ],
  ])('%s', (_name, outcome, delivery, expected) => {
    expect(decide(outcome, delivery, LONG)).toEqual(expected)
  })

  const PARKED: Decision = { kind: 'park', reason: 'exhausted', cause: 'waiting-limit' }

  test.each<[string, Decision, Decision]>([
    ['a retry is parked', { kind: 'retry', slot: 1, waitMs: 10_000 }, PARKED],
    ['so is a postponed last slot', { kind: 'postpone', slot: 3, postponed: 1, waitMs: 30_000 }, PARKED],
    ['and one whose secret cannot be decrypted', { kind: 'postpone', slot: 4, waitMs: 30_000 }, PARKED],
    ...[
      { kind: 'acknowledged' } as const,
      { kind: 'withdrawn' } as const,
      { kind: 'expired' } as const,
      { kind: 'park', reason: 'rejected' } as const,
      { kind: 'hold', slot: 1, waitMs: 10_000, visitInMs: 60_000 } as const,
    ].map((decision): [string, Decision, Decision] => [`${decision.kind} waits for nothing`, decision, decision]),
  ])('at the limit of waiting deliveries, %s; below it, nothing changes', (_name, decision, atLimit) => {
    expect(withinWaitingLimit(decision, () => false)).toEqual(atLimit)
    expect(withinWaitingLimit(decision, () => true)).toEqual(decision)
  })

  const anyWaitMs = fc.integer({ min: 1, max: 86_400_000 })
  const anySchedule = fc.array(anyWaitMs, { maxLength: 12 })

  test('a last slot is postponed for at least the longest wait and less than two of them, each time for at least a cool-down', () => {
    fc.assert(
      fc.property(anySchedule, anyWaitMs, (waitsMs, cooldownMs) => {
        const postponements = postponementsMs({ waitsMs, cooldownMs })
        const longestMs = Math.max(0, ...waitsMs)
        const sumMs = postponements.reduce((sum, waitMs) => sum + waitMs, 0)
        expect(sumMs).toBeGreaterThanOrEqual(longestMs)
        expect(sumMs).toBeLessThan(longestMs + Math.max(longestMs, cooldownMs) + 1)
        expect(Math.min(...postponements)).toBe(cooldownMs)
      }),
    )
  })

  const anyOutcome = fc.oneof<fc.Arbitrary<Outcome>[]>(
    fc.record({ kind: fc.constant('delivered' as const), status: fc.integer({ min: 200, max: 299 }) }),
    fc.record({ kind: fc.constant('answered' as const), status: fc.integer({ min: 300, max: 599 }) }),
    fc.record({
      kind: fc.constant('unreachable' as const),
      reason: fc.constantFrom('timeout' as const, 'dns' as const, 'reset' as const),
    }),
  )
  /** Takes a delivery through its slots until it ends. */
  function run(
    waitsMs: readonly number[],
    outcomes: Iterator<Outcome | Withheld>,
  ): { posts: number; lastWasPosted: boolean; waitedMs: number[]; end: Decision } {
    const waitedMs: number[] = []
    let due = { slot: 0, postponed: 0 }
    for (let posts = 0; ; ) {
      const next = outcomes.next().value
      // The limit of the last slot is left out: dead-endpoint.test.ts checks it.
      const outcome = next.kind === 'cooling' && due.slot >= waitsMs.length ? PROBING : next
      if (outcome.kind !== 'cooling') posts++
      const decision = decide(outcome, due, { waitsMs, cooldownMs: COOLDOWN_MS })
      if (decision.kind !== 'retry' && decision.kind !== 'postpone') {
        return { posts, lastWasPosted: outcome.kind !== 'cooling', waitedMs, end: decision }
      }
      if (decision.kind === 'retry') waitedMs.push(decision.waitMs)
      due = { slot: decision.slot, postponed: decision.postponed ?? 0 }
    }
  }

  test('in any order of cool-downs, probes and failures, the schedule is followed and no delivery is given up without a POST', () => {
    const anyResult = fc.oneof<fc.Arbitrary<Outcome | Withheld>[]>(
      fc.constantFrom({ kind: 'cooling' as const }, PROBING),
      fc.constant({ kind: 'answered' as const, status: 503 }),
      fc.constant({ kind: 'unreachable' as const, reason: 'timeout' as const }),
    )
    fc.assert(
      fc.property(anySchedule, fc.infiniteStream(anyResult), (waitsMs, results) => {
        const { posts, lastWasPosted, waitedMs, end } = run(waitsMs, results)
        expect(end).toEqual({ kind: 'park', reason: 'exhausted' })
        expect(waitedMs).toEqual(waitsMs)
        expect(lastWasPosted).toBe(true)
        expect(posts).toBeLessThanOrEqual(waitsMs.length + 1)
      }),
    )
  })

  test('a delivery that always falls into a cool-down is parked without a POST, after the schedule and every postponement', () => {
    fc.assert(
      fc.property(anySchedule, anyWaitMs, (waitsMs, cooldownMs) => {
        const schedule = { waitsMs, cooldownMs }
        const waitedMs: number[] = []
        let decision = decide({ kind: 'cooling' }, { slot: 0 }, schedule)
        while (decision.kind === 'retry' || decision.kind === 'postpone') {
          waitedMs.push(decision.waitMs)
          decision = decide({ kind: 'cooling' }, decision, schedule)
        }
        expect(decision).toEqual(EXHAUSTED)
        expect(waitedMs).toEqual([...waitsMs, ...postponementsMs(schedule)])
      }),
    )
  })

  test('every delivery ends after at most as many attempts as the schedule has', () => {
    fc.assert(
      fc.property(anySchedule, fc.infiniteStream(anyOutcome), (waitsMs, outcomes) => {
        expect(run(waitsMs, outcomes).posts).toBeLessThanOrEqual(waitsMs.length + 1)
      }),
    )
  })

  test('each wait is the wait of its slot', () => {
    fc.assert(
      fc.property(anySchedule, fc.infiniteStream(anyOutcome), (waitsMs, outcomes) => {
        const { waitedMs } = run(waitsMs, outcomes)
        expect(waitedMs).toEqual(waitsMs.slice(0, waitedMs.length))
      }),
    )
  })

  test('an endpoint that never recovers gets every attempt of the schedule, and then the delivery is parked', () => {
    fc.assert(
      fc.property(anySchedule, fc.integer({ min: 500, max: 599 }), (waitsMs, status) => {
        const failures = [...waitsMs, 0].map((): Outcome => ({ kind: 'answered', status }))
        expect(run(waitsMs, failures.values())).toMatchObject({
          posts: waitsMs.length + 1,
          waitedMs: waitsMs,
          end: { kind: 'park', reason: 'exhausted' },
        })
      }),
    )
  })
})

test('the retry of a received delivery is held; every other decision is the same', () => {
  expect(decisionOnReceived({ kind: 'retry', slot: 2, waitMs: 60_000 })).toEqual({
    kind: 'hold',
    slot: 2,
    waitMs: 60_000,
    visitInMs: 600_000,
  })
  for (const decision of [{ kind: 'acknowledged' }, { kind: 'park', reason: 'rejected' }] as const) {
    expect(decisionOnReceived(decision)).toBe(decision)
  }
})
