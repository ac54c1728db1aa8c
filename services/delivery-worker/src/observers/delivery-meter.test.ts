import { type Attempt, type Delivery, type Outcome } from '@switchhook/contracts'
import { createMetrics } from '@switchhook/runtime'
import { anAttempt, aReportedDelivery } from '@switchhook/servicekit'
import { attempt as makeAttempt } from '../pipeline/stages.ts'
import type { Decision, Withheld } from '../policy/decide.ts'
import { HEALTHY, ok, pipelineDeps, posted, uncounted } from '../testing/delivering.ts'
import { createDeliveryMeter } from './delivery-meter.ts'
import { notifyAll } from './observer.ts'

const delivery = aReportedDelivery()
const attempt = anAttempt()

/** The arguments of an observer for one slot. */
interface Concluded {
  readonly delivery?: Delivery
  readonly attempt: Attempt | null
  readonly decision: Decision
  readonly outcome: Outcome | Withheld
}

/** The samples of the worker's metrics that are not zero after these slots. */
async function after(...slots: readonly Concluded[]): Promise<string[]> {
  const metrics = createMetrics('w')
  const reported: unknown[] = []
  const { observer } = createDeliveryMeter(metrics)
  const { concluded } = notifyAll([observer, { concluded: (...args) => void reported.push(args) }])
  const given = slots.map((slot) => [slot.delivery ?? delivery, slot.attempt, slot.decision, slot.outcome] as const)
  for (const slot of given) concluded(...slot)
  expect(reported).toEqual(given)
  return samplesOf(await metrics.text())
}

const samplesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('switchhook_') && !line.includes('_bucket') && !line.endsWith(' 0'))
    .map((line) => line.replace(/,?service="w"/, '').replace('{}', ''))

const delivered: Concluded = {
  attempt,
  decision: { kind: 'acknowledged' },
  outcome: { kind: 'delivered', status: 204 },
}
const answered = (status: number): Attempt => ({ ...attempt, outcome: 'answered', status })
const retry: Decision = { kind: 'retry', slot: 1, waitMs: 10_000 }
const postpone: Decision = { kind: 'postpone', slot: 7, waitMs: 30_000 }

test('an acknowledged first attempt counts with its outcome, its decision and all its times', async () => {
  expect(await after(delivered)).toEqual([
    'switchhook_attempts_total{outcome="delivered",status="2xx"} 1',
    'switchhook_attempt_duration_seconds_sum{result="delivered"} 0.2',
    'switchhook_attempt_duration_seconds_count{result="delivered"} 1',
    'switchhook_event_to_first_attempt_seconds_sum 3',
    'switchhook_event_to_first_attempt_seconds_count 1',
    'switchhook_due_to_first_attempt_seconds_sum 2',
    'switchhook_due_to_first_attempt_seconds_count 1',
    'switchhook_due_to_acknowledged_seconds_sum{waited="no"} 2.2',
    'switchhook_due_to_acknowledged_seconds_count{waited="no"} 1',
    'switchhook_decisions_total{decision="acknowledged",reason="none"} 1',
  ])
})

test('an acknowledged later attempt counts as one that waited, and not as a first attempt', async () => {
  const later = { ...attempt, slot: 2, attempt: 3, at: '2026-11-20T17:01:11.000Z' }
  const samples = await after({ ...delivered, attempt: later })
  expect(samples).toContain('switchhook_due_to_acknowledged_seconds_sum{waited="yes"} 70.2')
  expect(samples.filter((line) => line.includes('first_attempt') || line.includes('waited="no"'))).toEqual([])
})

test('so does one in the first slot that was postponed', async () => {
  const postponed = { ...delivery, token: '1f2e3d4c', postponed: 1 }
  const samples = await after({ ...delivered, delivery: postponed })
  expect(samples).toContain('switchhook_due_to_acknowledged_seconds_count{waited="yes"} 1')
})

test.each<[string, Delivery, Attempt]>([
  ['skipped slots in a cool-down', { ...delivery, slot: 2, token: '1f2e3d4c' }, { ...attempt, slot: 2 }],
  ['skipped slots with a worker without tokens', { ...delivery, slot: 2 }, { ...attempt, slot: 2 }],
  ['was held', { ...delivery, token: '1f2e3d4c' }, attempt],
  ['was parked without an attempt and sent again', { ...delivery, run: 2 }, { ...attempt, run: 2 }],
])('the time to the first attempt does not count if the delivery %s', async (_name, late, first) => {
  const samples = await after({ ...delivered, delivery: late, attempt: first })
  expect(samples).toContain('switchhook_attempts_total{outcome="delivered",status="2xx"} 1')
  expect(samples.filter((line) => line.includes('first_attempt'))).toEqual([])
})

test.each<[string, Attempt, string]>([
  ['a status by its class', answered(503), '{outcome="answered",status="5xx"}'],
  ['a redirect', answered(302), '{outcome="answered",status="3xx"}'],
  ['an unknown status', answered(999), '{outcome="answered",status="other"}'],
  ['no answer by its reason', { ...attempt, outcome: 'timeout', status: null }, '{outcome="timeout",status="none"}'],
])('a failed attempt counts: %s', async (_name, failed, labels) => {
  const samples = await after({ attempt: failed, decision: retry, outcome: { kind: 'answered', status: 503 } })
  expect(samples).toContain(`switchhook_attempts_total${labels} 1`)
  expect(samples).toContain('switchhook_attempt_duration_seconds_count{result="failed"} 1')
  expect(samples.filter((line) => line.includes('acknowledged'))).toEqual([])
})

const cooling: Withheld = { kind: 'cooling' }
const unsignable: Withheld = { kind: 'unsignable' }
const rejected: Outcome = { kind: 'answered', status: 410 }

test.each<[Decision, Outcome | Withheld, string]>([
  [retry, { kind: 'unreachable', reason: 'dns' }, '{decision="retry",reason="failed"}'],
  [retry, cooling, '{decision="retry",reason="cooling"}'],
  [postpone, cooling, '{decision="postponed",reason="cooling"}'],
  [{ kind: 'park', reason: 'exhausted' }, cooling, '{decision="parked",reason="exhausted"}'],
  [retry, unsignable, '{decision="retry",reason="unsignable"}'],
  [postpone, unsignable, '{decision="postponed",reason="unsignable"}'],
  [{ kind: 'withdrawn' }, { kind: 'withdrawn' }, '{decision="withdrawn",reason="none"}'],
  [{ kind: 'park', reason: 'rejected' }, rejected, '{decision="parked",reason="rejected"}'],
  [{ kind: 'park', reason: 'exhausted' }, rejected, '{decision="parked",reason="exhausted"}'],
])('a slot without a POST counts only its decision: %j after %j', async (decision, outcome, labels) => {
  expect(await after({ attempt: null, decision, outcome })).toEqual([`switchhook_decisions_total${labels} 1`])
})

test('a clock that is behind produces no negative times', async () => {
  const early = { ...attempt, at: '2026-11-20T16:59:00.000Z' }
  expect((await after({ ...delivered, attempt: early })).filter((line) => line.includes('-'))).toEqual([])
})

test('POSTs in flight are those that have begun and not ended, whether they succeed or fail', async () => {
  const metrics = createMetrics('w')
  const ends: ((error?: Error) => void)[] = []
  const worker = pipelineDeps({
    post: (due) =>
      new Promise((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve(posted(due, ok)) : reject(error)))
      }),
    observer: createDeliveryMeter(metrics).observer,
  })
  const before = { health: HEALTHY, probe: undefined, rejected: undefined }
  const post = () =>
    makeAttempt(
      worker,
      { kind: 'admitted', delivery, before, trustedUntilMs: Infinity, limited: undefined },
      uncounted(),
    )
  const [first, second] = [post(), post()]
  const inFlight = async () => samplesOf(await metrics.text()).filter((line) => line.includes('in_flight'))
  expect(await inFlight()).toEqual(['switchhook_posts_in_flight 2'])
  ends[0]?.()
  ends[1]?.(new Error('EMFILE'))
  await expect(first).resolves.toMatchObject({ result: { outcome: ok } })
  await expect(second).rejects.toThrow('EMFILE')
  expect(await inFlight()).toEqual([])
})

test('a published notice counts by its type', async () => {
  const metrics = createMetrics('w')
  createDeliveryMeter(metrics).noticePublished({ eventType: 'webhook.delivery.parked' })
  const samples = (await metrics.text()).split('\n').filter((line) => line.startsWith('switchhook_notices_total'))
  expect(samples).toEqual([
    'switchhook_notices_total{event_type="webhook.endpoint.failing",service="w"} 0',
    'switchhook_notices_total{event_type="webhook.endpoint.recovered",service="w"} 0',
    'switchhook_notices_total{event_type="webhook.delivery.parked",service="w"} 1',
    'switchhook_notices_total{event_type="webhook.parked.limit",service="w"} 0',
    'switchhook_notices_total{event_type="webhook.held.limit",service="w"} 0',
  ])
})

test('a delivery that moved to a lane and a cool-down that began are counted', async () => {
  const metrics = createMetrics('w')
  const meter = createDeliveryMeter(metrics)
  expect(samplesOf(await metrics.text())).toEqual([])
  meter.movedToLane()
  meter.cooldown()
  expect(samplesOf(await metrics.text())).toEqual([
    'switchhook_decisions_total{decision="aside",reason="none"} 1',
    'switchhook_cooldowns_total 1',
  ])
})
