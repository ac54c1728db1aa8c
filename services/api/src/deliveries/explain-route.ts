import {
  AppError,
  deliveryIdOf,
  type EventId,
  isGuid,
  parseEventId,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import type {
  DeliveryArchive,
  DeliveryLogReader,
  EndpointHealth,
  EventRecord,
  ListedDelivery,
  SubscriptionStore,
} from '@switchhook/store'
import type { Caller, Route } from '../http/route.ts'
import { HEALTHY } from '../subscriptions/subscription-schema.ts'
import { attemptView } from './delivery-schema.ts'
import { type Explanation, explain } from './explain.ts'
import { eventIdSchema, explainedEventSchema } from './explain-schema.ts'

export interface ExplainRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'list'>
  readonly deliveries: Pick<DeliveryArchive, 'find'>
  readonly deliveryLog: Pick<DeliveryLogReader, 'event' | 'records'>
  /** What is known of a subscription's endpoint. */
  readonly healthOf: (subscription: Subscription) => Promise<EndpointHealth>
}

/** Of one event, as far as it is remembered. */
interface Remembered {
  readonly eventType: string
  readonly occurredAt: string | null
  readonly fannedOutAt: string
}

/** Records that are read at a time. */
const CHUNK = 200

const UNKNOWN =
  'No event of this id is remembered for you: it was never emitted, has not been taken up yet, was taken up longer ago than ' +
  'deliveries are remembered, or belongs to another tenant'

export function createExplainRoute({
  subscriptions,
  deliveries: archive,
  deliveryLog,
  healthOf,
}: ExplainRouteDeps): Route {
  async function recordsOf(eventId: EventId, ids: readonly SubscriptionId[]) {
    const found = new Map<SubscriptionId, ListedDelivery>()
    for (let from = 0; from < ids.length; from += CHUNK) {
      const chunk = ids.slice(from, from + CHUNK)
      const records = await deliveryLog.records(chunk.map((id) => deliveryIdOf(eventId, id)))
      for (const record of records) if (record !== undefined) found.set(record.subscriptionId, record)
    }
    return found
  }

  /** The lists do not hold bodies. */
  async function isBodyDropped(delivery: ListedDelivery | undefined): Promise<boolean> {
    if (delivery?.state !== 'parked') return false
    const found = await archive.find(delivery.deliveryId)
    return found?.state === 'parked' && found.body === null
  }

  async function explainEvent({ tenant }: Caller, eventId: EventId) {
    const [event, present] = await Promise.all([deliveryLog.event(eventId), subscriptions.list(tenant)])
    if (event !== undefined && event.tenant !== tenant) throw unknownEvent()
    const known = new Map(present.map((subscription) => [subscription.id, subscription]))
    const ids = [...new Set([...known.keys(), ...(event?.subscriptionIds ?? [])])]
    const deliveries = await recordsOf(eventId, ids)
    const remembered = rememberedOf(event, deliveries)
    if (remembered === undefined) throw unknownEvent()
    // A test is of one subscription: to the others nothing has happened.
    const isTrial = [...deliveries.values()].some(({ trial }) => trial !== undefined)
    const explanations = (isTrial ? [...deliveries.keys()] : ids).map(async (subscriptionId): Promise<Explanation> => {
      const subscription = known.get(subscriptionId)
      const delivery = deliveries.get(subscriptionId)
      return explain({
        eventType: remembered.eventType,
        subscriptionId,
        deliveryId: deliveryIdOf(eventId, subscriptionId),
        health:
          subscription !== undefined && isStillToCome(delivery, event, subscriptionId)
            ? await healthOf(subscription)
            : HEALTHY,
        isBodyDropped: await isBodyDropped(delivery),
        ...(event !== undefined && { event }),
        ...(subscription !== undefined && { subscription }),
        ...(delivery !== undefined && { delivery }),
      })
    })
    return { eventId, ...remembered, subscriptions: (await Promise.all(explanations)).map(viewOf) }
  }

  return {
    method: 'get',
    path: '/api/v1/webhooks/events/{eventId}',
    operationId: 'explainEvent',
    tag: 'deliveries',
    summary: 'Tell what became of an event at each subscription, and why',
    description:
      'Answers "why did I not get it?": for each subscription one verdict, one sentence, and the times behind it. An event is remembered ' +
      'for as long as an acknowledged delivery is (1 hour by default); after that, for as long as one of its deliveries to a present ' +
      'subscription waits or is parked. Of a test (`POST …/test`), only the subscription that it was asked for is listed.',
    params: { eventId: eventIdSchema },
    responses: { 200: { description: 'What became of it.', body: explainedEventSchema } },
    failures: ['event-not-found'],
    async handle({ caller, params: { eventId } }) {
      if (!isGuid(eventId)) throw unknownEvent()
      return { status: 200, body: await explainEvent(caller, parseEventId(eventId)) }
    },
  }
}

const unknownEvent = (): AppError => new AppError('event-not-found', { detail: UNKNOWN })

/** Without the event's own record, a delivery of it says what it was. */
function rememberedOf(
  event: EventRecord | undefined,
  deliveries: ReadonlyMap<SubscriptionId, ListedDelivery>,
): Remembered | undefined {
  if (event !== undefined) {
    const { eventType, occurredAt, fannedOutAt } = event
    return { eventType, occurredAt, fannedOutAt }
  }
  const [oldest] = [...deliveries.values()].toSorted((a, b) => (a.firstDueAt < b.firstDueAt ? -1 : 1))
  return oldest && { eventType: oldest.eventType, occurredAt: null, fannedOutAt: oldest.firstDueAt }
}

/** Else what its endpoint is like now is of no importance. */
const isStillToCome = (
  delivery: ListedDelivery | undefined,
  event: EventRecord | undefined,
  id: SubscriptionId,
): boolean =>
  delivery === undefined
    ? event?.subscriptionIds.includes(id) === true
    : delivery.state === 'waiting' || delivery.state === 'pending'

const viewOf = ({ lastAttempt, ...explanation }: Explanation) => ({
  ...explanation,
  lastAttempt: lastAttempt === null ? null : attemptView(lastAttempt),
})
