import type { Attempt, Outcome } from '@switchhook/contracts'
import { anAttempt, aReportedDelivery } from '@switchhook/servicekit'
import type { Decision, Withheld } from '../policy/decide.ts'
import { createAttemptLog } from './attempt-log.ts'

const delivery = aReportedDelivery()
const attemptOf = (number: number, outcome: Attempt['outcome']): Attempt =>
  anAttempt({ slot: number - 1, attempt: number, outcome, status: outcome === 'delivered' ? 204 : null })
const delivered: Outcome = { kind: 'delivered', status: 204 }
const failed: Outcome = { kind: 'unreachable', reason: 'timeout' }

/** Reports a slot `times` times and returns the log lines. */
function logged(
  sample: number,
  times: number,
  attempt: Attempt | null,
  decision: Decision,
  outcome: Outcome | Withheld,
) {
  const lines: Readonly<Record<string, unknown>>[] = []
  const report = createAttemptLog({ info: (_message, fields = {}) => void lines.push(fields) }, sample)
  for (let n = 0; n < times; n++) report(delivery, attempt, decision, outcome)
  return lines
}

const acknowledged: Decision = { kind: 'acknowledged' }

test('without sampling every slot has its line', () => {
  const lines = logged(1, 5, attemptOf(1, 'delivered'), acknowledged, delivered)
  expect(lines).toHaveLength(5)
  expect(lines[0]).toMatchObject({
    deliveryId: delivery.deliveryId,
    attempt: 1,
    outcome: 'delivered',
    decision: 'acknowledged',
  })
  expect(lines[0]).not.toHaveProperty('sampled')
})

test('with sampling one of n acknowledged first attempts has a line, which names n', () => {
  const lines = logged(100, 250, attemptOf(1, 'delivered'), acknowledged, delivered)
  expect(lines.map(({ sampled }) => sampled)).toEqual([100, 100, 100])
})

test.each<[string, Attempt | null, Decision, Outcome | Withheld]>([
  ['a failed first attempt', attemptOf(1, 'timeout'), { kind: 'retry', slot: 1, waitMs: 10 }, failed],
  ['an acknowledged retry', attemptOf(2, 'delivered'), acknowledged, delivered],
  ['a parked delivery', attemptOf(8, 'timeout'), { kind: 'park', reason: 'exhausted' }, failed],
  ['a slot without an attempt', null, { kind: 'withdrawn' }, { kind: 'withdrawn' }],
])('with sampling, %s always has its line', (_what, attempt, decision, outcome) => {
  expect(logged(100, 3, attempt, decision, outcome)).toHaveLength(3)
})

test.each<[Decision['kind'], Decision, Withheld]>([
  ['retry', { kind: 'retry', slot: 1, waitMs: 10 }, { kind: 'cooling' }],
  ['postpone', { kind: 'postpone', slot: 7, postponed: 1, waitMs: 10 }, { kind: 'cooling' }],
])('the line of a %s says how long it waits', (_kind, decision, outcome) => {
  expect(logged(1, 1, null, decision, outcome)).toMatchObject([{ attempt: null, waitMs: 10 }])
})
