import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  envelopesOf,
  newEventId,
  newSubscriptionId,
  type Outcome,
  type PlatformEvent,
} from '@switchhook/contracts'
import { createMetrics } from '@switchhook/runtime'
import type { Decision, Withheld } from '../policy/decide.ts'
import { createDeliveryMeter } from './delivery-meter.ts'

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

const attempt: Attempt = {
  run: 1,
  slot: 0,
  attempt: 1,
  at: '2026-11-20T17:00:03.000Z',
  durationMs: 200,
  outcome: 'delivered',
  status: 204,
}

/** What a report is told of one turn. */
interface Turn {
  readonly attempt: Attempt | null
  readonly decision: Decision
  readonly outcome: Outcome | Withheld
}

/** The samples that are not zero after these turns, the process' own left out. */
async function after(...turns: readonly Turn[]): Promise<string[]> {
  const metrics = createMetrics('w')
  const reported: unknown[] = []
  const report = createDeliveryMeter(metrics).reporting((...told) => void reported.push(told))
  for (const turn of turns) report(delivery, turn.attempt, turn.decision, turn.outcome)
  expect(reported).toEqual(turns.map((turn) => [delivery, turn.attempt, turn.decision, turn.outcome]))
  return samplesOf(await metrics.text())
}

const samplesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('switchhook_') && !line.includes('_bucket') && !line.endsWith(' 0'))
    .map((line) => line.replace(/,?service="w"/, '').replace('{}', ''))

const delivered: Turn = { attempt, decision: { kind: 'acknowledged' }, outcome: { kind: 'delivered', status: 204 } }
const answered = (status: number): Attempt => ({ ...attempt, outcome: 'answered', status })
const retry: Decision = { kind: 'retry', slot: 1, waitMs: 10_000 }

test('a first attempt that is acknowledged counts with its outcome, its decision and all its times', async () => {
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

test('a later attempt that is acknowledged has waited, and is no first attempt', async () => {
  const later = { ...attempt, slot: 2, attempt: 3, at: '2026-11-20T17:01:11.000Z' }
  const samples = await after({ ...delivered, attempt: later })
  expect(samples).toContain('switchhook_due_to_acknowledged_seconds_sum{waited="yes"} 70.2')
  expect(samples.filter((line) => line.includes('first_attempt') || line.includes('waited="no"'))).toEqual([])
})

test.each<[string, Attempt, string]>([
  ['a status by its class', answered(503), '{outcome="answered",status="5xx"}'],
  ['a redirect', answered(302), '{outcome="answered",status="3xx"}'],
  ['a status that nobody has heard of', answered(999), '{outcome="answered",status="other"}'],
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
  [{ kind: 'postpone' }, cooling, '{decision="postponed",reason="cooling"}'],
  [{ kind: 'park', reason: 'exhausted' }, cooling, '{decision="parked",reason="exhausted"}'],
  [retry, unsignable, '{decision="retry",reason="unsignable"}'],
  [{ kind: 'postpone' }, unsignable, '{decision="postponed",reason="unsignable"}'],
  [{ kind: 'withdrawn' }, { kind: 'withdrawn' }, '{decision="withdrawn",reason="none"}'],
  [{ kind: 'park', reason: 'rejected' }, rejected, '{decision="parked",reason="rejected"}'],
  [{ kind: 'park', reason: 'exhausted' }, rejected, '{decision="parked",reason="exhausted"}'],
])('a turn without a POST counts its decision alone: %j after %j', async (decision, outcome, labels) => {
  expect(await after({ attempt: null, decision, outcome })).toEqual([`switchhook_decisions_total${labels} 1`])
})

test('a clock that is behind makes nothing negative', async () => {
  const early = { ...attempt, at: '2026-11-20T16:59:00.000Z' }
  expect((await after({ ...delivered, attempt: early })).filter((line) => line.includes('-'))).toEqual([])
})

test('POSTs in flight are those that have begun and not ended, however they end', async () => {
  const metrics = createMetrics('w')
  const ends: ((error?: Error) => void)[] = []
  const post = createDeliveryMeter(metrics).posting(
    () =>
      new Promise((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve({ kind: 'delivered', status: 200 }) : reject(error)))
      }),
  )
  const [first, second] = [post(delivery, 1, undefined), post(delivery, 1, undefined)]
  const inFlight = async () => samplesOf(await metrics.text()).filter((line) => line.includes('in_flight'))
  expect(await inFlight()).toEqual(['switchhook_posts_in_flight 2'])
  ends[0]?.()
  ends[1]?.(new Error('EMFILE'))
  await expect(first).resolves.toEqual({ kind: 'delivered', status: 200 })
  await expect(second).rejects.toThrow('EMFILE')
  expect(await inFlight()).toEqual([])
})

test('a notice counts by its type once the broker has it', async () => {
  const metrics = createMetrics('w')
  const confirms = [() => Promise.reject(new Error('no confirm')), async () => {}]
  const publish = createDeliveryMeter(metrics).publishingNotice(async () => confirms.shift()?.())
  const notice: PlatformEvent = {
    eventId: newEventId(),
    eventType: 'webhook.delivery.parked',
    occurredAt: '2026-11-20T17:00:00.000Z',
    tenant: 'acme',
    data: {},
  }
  await expect(publish(notice)).rejects.toThrow('no confirm')
  await publish(notice)
  const samples = (await metrics.text()).split('\n').filter((line) => line.startsWith('switchhook_notices_total'))
  expect(samples).toEqual([
    'switchhook_notices_total{event_type="webhook.endpoint.failing",service="w"} 0',
    'switchhook_notices_total{event_type="webhook.endpoint.recovered",service="w"} 0',
    'switchhook_notices_total{event_type="webhook.delivery.parked",service="w"} 1',
    'switchhook_notices_total{event_type="webhook.parked.limit",service="w"} 0',
  ])
})

test('a delivery counts as moved aside once the broker has it, and a cool-down when it begins', async () => {
  const metrics = createMetrics('w')
  const meter = createDeliveryMeter(metrics)
  const state = { isAway: true }
  const moveAside = meter.movingAside(async () => {
    if (state.isAway) throw new Error('no confirm')
  })
  await expect(moveAside(delivery, 0)).rejects.toThrow('no confirm')
  expect(samplesOf(await metrics.text())).toEqual([])
  state.isAway = false
  await moveAside(delivery, 0)
  meter.cooldown()
  expect(samplesOf(await metrics.text())).toEqual([
    'switchhook_decisions_total{decision="aside",reason="none"} 1',
    'switchhook_cooldowns_total 1',
  ])
})
