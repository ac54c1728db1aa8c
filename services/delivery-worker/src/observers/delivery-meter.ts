import {
  type Attempt,
  type Delivery,
  EVENT_TYPES,
  isNotice,
  type Outcome,
  occurredAtMsOf,
  PARKED_REASONS,
  type PlatformEvent,
  UNREACHABLE_REASONS,
} from '@switchhook/contracts'
import { type Counter, type Metrics, SECONDS } from '@switchhook/runtime'
import type { Decision, Withheld } from '../policy/decide.ts'
import type { DeliveryObserver } from './observer.ts'

/** In seconds. Up to a minute the buckets measure latency; the others follow the waits of the schedule. */
const TO_THE_END = [...SECONDS, 30, 60, 300, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 50_400, 86_400]
const TO_THE_FIRST = [...SECONDS, 30, 60, 300, 1_800, 3_600]

/** The worker's metrics. A delivery costs a few additions. */
export function createDeliveryMeter(metrics: Metrics) {
  const attempts = createAttemptCounters(metrics)
  const duration = metrics.histogram(
    'switchhook_attempt_duration_seconds',
    'What the endpoint took of a POST, without waits for Redis and stalls of the worker.',
    SECONDS,
  )
  const [delivered, failed] = [duration.of({ result: 'delivered' }), duration.of({ result: 'failed' })]
  const sinceEvent = metrics.histogram(
    'switchhook_event_to_first_attempt_seconds',
    'From the occurrence of an event to the first POST of each of its deliveries that was not held and skipped no slot.',
    TO_THE_FIRST,
  )
  const sinceDue = metrics.histogram(
    'switchhook_due_to_first_attempt_seconds',
    'From the creation of a delivery to the start of its first POST, unless it was held or skipped a slot.',
    TO_THE_FIRST,
  )
  const [firstSinceEvent, firstSinceDue] = [sinceEvent.of({}), sinceDue.of({})]
  const acknowledged = metrics.histogram(
    'switchhook_due_to_acknowledged_seconds',
    'From the creation or redelivery of a delivery to the end of the POST that was acknowledged.',
    TO_THE_END,
  )
  const [atOnce, afterWaits] = [acknowledged.of({ waited: 'no' }), acknowledged.of({ waited: 'yes' })]
  const { decisions, aside } = createDecisionCounters(metrics)
  const cooldowns = metrics
    .counter(
      'switchhook_cooldowns_total',
      'Cool-downs that began because an endpoint kept failing, or asked for one with Retry-After.',
    )
    .of({})
  const released = metrics.counter(
    'switchhook_parked_released_total',
    'Parked deliveries that lost their body, or were dropped, because of the limits on parked deliveries.',
  )
  const [bodiesReleased, deliveriesDropped] = [released.of({ what: 'body' }), released.of({ what: 'delivery' })]
  const published = metrics.counter('switchhook_notices_total', 'Notices that the broker confirmed.')
  const notices = new Map(EVENT_TYPES.filter(isNotice).map((type) => [type, published.of({ event_type: type })]))
  let inFlight = 0
  const postEnded = (): void => void (inFlight -= 1)
  metrics.gauge('switchhook_posts_in_flight', 'POSTs in flight.', () => inFlight)

  function countAttempt(delivery: Delivery, attempt: Attempt): void {
    attempts(attempt).add()
    const isDelivered = attempt.outcome === 'delivered'
    ;(isDelivered ? delivered : failed).observe(attempt.durationMs / 1_000)
    // A message with a token was held, or continues a delivery: it is late on purpose.
    const isFirst = attempt.run === 1 && attempt.slot === 0 && delivery.token === undefined
    if (!isFirst && !isDelivered) return
    const startedAtMs = Date.parse(attempt.at)
    const dueAtMs = Date.parse(delivery.firstDueAt)
    if (isFirst) {
      firstSinceEvent.observe(secondsBetween(occurredAtMsOf(delivery.body), startedAtMs))
      firstSinceDue.observe(secondsBetween(dueAtMs, startedAtMs))
    }
    if (isDelivered) {
      const hasWaited = attempt.slot > 0 || delivery.postponed !== undefined
      ;(hasWaited ? afterWaits : atOnce).observe(secondsBetween(dueAtMs, startedAtMs + attempt.durationMs))
    }
  }

  const observer: Required<DeliveryObserver> = {
    posting: () => {
      inFlight += 1
      return postEnded
    },
    concluded: (delivery, attempt, decision, outcome) => {
      if (attempt !== null) countAttempt(delivery, attempt)
      decisions(decision, outcome).add()
    },
  }

  return {
    observer,
    /** A crowded delivery was confirmed in its lane. */
    movedToLane: () => aside.add(),
    cooldown: () => cooldowns.add(),
    parkedReleased: ({ bodies, dropped }: { readonly bodies: number; readonly dropped: number }) => {
      bodiesReleased.add(bodies)
      deliveriesDropped.add(dropped)
    },
    /** Called after the broker's confirm. */
    noticePublished: ({ eventType }: Pick<PlatformEvent, 'eventType'>) => notices.get(eventType)?.add(),
  }
}

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other'] as const

const countersOf = <Label extends string>(labels: readonly Label[], of: (label: Label) => Counter) =>
  Object.fromEntries(labels.map((label) => [label, of(label)])) as Record<Label, Counter>

/** The class of a status, because an endpoint can send hundreds of different ones. */
const classOf = (status: number) => STATUS_CLASSES[Math.floor(status / 100) - 1] ?? 'other'

function createAttemptCounters(metrics: Metrics): (attempt: Attempt) => Counter {
  const family = metrics.counter('switchhook_attempts_total', 'POSTs made, by outcome and status class.')
  const delivered = family.of({ outcome: 'delivered', status: '2xx' })
  const answered = countersOf(STATUS_CLASSES, (status) => family.of({ outcome: 'answered', status }))
  const unreachable = countersOf(UNREACHABLE_REASONS, (outcome) => family.of({ outcome, status: 'none' }))
  return ({ outcome, status }) => {
    if (outcome === 'delivered') return delivered
    return outcome === 'answered' ? answered[classOf(status ?? 0)] : unreachable[outcome]
  }
}

function createDecisionCounters(metrics: Metrics) {
  const family = metrics.counter(
    'switchhook_decisions_total',
    'Decisions about deliveries, with their reason: a failed POST, a cool-down, a secret that cannot be decrypted, or why the delivery was parked.',
  )
  const of = (decision: string) => (reason: string) => family.of({ decision, reason })
  const { held, aside, ...ends } = countersOf(['acknowledged', 'withdrawn', 'expired', 'held', 'aside'], (decision) =>
    of(decision)('none'),
  )
  const parked = countersOf(PARKED_REASONS, of('parked'))
  const postpone = countersOf(['cooling', 'unsignable'], of('postponed'))
  const retry = countersOf(['failed', 'cooling', 'unsignable'], of('retry'))
  const decisions = (decision: Decision, { kind }: Outcome | Withheld): Counter => {
    switch (decision.kind) {
      case 'park':
        return parked[decision.reason]
      case 'postpone':
        return postpone[kind === 'unsignable' ? 'unsignable' : 'cooling']
      case 'retry':
        return retry[kind === 'cooling' || kind === 'unsignable' ? kind : 'failed']
      case 'hold':
        return held
      default:
        return ends[decision.kind]
    }
  }
  return { decisions, aside }
}

/** The clocks of two machines differ. A negative time counts as zero. */
const secondsBetween = (fromMs: number, toMs: number): number => Math.max(0, toMs - fromMs) / 1_000
