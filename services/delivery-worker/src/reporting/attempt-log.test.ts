import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  envelopesOf,
  newEventId,
  newSubscriptionId,
  type Outcome,
} from '@switchhook/contracts'
import type { Decision, Withheld } from '../policy/decide.ts'
import { createAttemptLog } from './attempt-log.ts'

const eventId = newEventId()
const subscriptionId = newSubscriptionId()
const deliveryId = deliveryIdOf(eventId, subscriptionId)
const event = { eventId, eventType: 'call.status', occurredAt: '2026-11-20T17:00:00.000Z', tenant: 'acme' } as const
const delivery: Delivery = {
  deliveryId,
  subscriptionId,
  eventId,
  eventType: 'call.status',
  tenant: 'acme',
  url: 'https://client.example/hook',
  run: 1,
  slot: 0,
  attempt: 1,
  firstDueAt: '2026-11-20T17:00:01.000Z',
  body: envelopesOf({ ...event, data: {} })(deliveryId),
}
const attemptOf = (number: number, outcome: Attempt['outcome']): Attempt => ({
  run: 1,
  slot: number - 1,
  attempt: number,
  at: '2026-11-20T17:00:03.000Z',
  durationMs: 200,
  outcome,
  status: outcome === 'delivered' ? 204 : null,
})
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
  expect(lines[0]).toMatchObject({ deliveryId, attempt: 1, outcome: 'delivered', decision: 'acknowledged' })
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
