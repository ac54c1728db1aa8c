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
  JournalEntry,
  JournalReader,
  ListedDelivery,
  SubscriptionStore,
} from '@switchhook/store'
import type { Caller, Route } from '../http/route.ts'
import { HEALTHY } from '../subscriptions/subscription-schema.ts'
import { eventIdSchema } from './delivery-schema.ts'
import { attemptView } from './delivery-view.ts'
import { type Explanation, explain } from './explain.ts'
import { explainedEventSchema } from './explain-schema.ts'

export interface ExplainRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'list'>
  readonly deliveries: Pick<DeliveryArchive, 'find'>
  readonly deliveryLog: Pick<DeliveryLogReader, 'event' | 'records'>
  readonly journal: Pick<JournalReader, 'find'>
  readonly healthOf: (subscription: Subscription) => Promise<EndpointHealth>
}

/** The event's own data, as far as it is still stored. */
interface StoredEvent {
  readonly eventType: string
  readonly occurredAt: string | null
  readonly fannedOutAt: string
}

/** The number of records per read. */
const CHUNK = 200

const UNKNOWN =
  'There is no record of this event: it does not exist, is not fanned out yet, is older than the retention time, or belongs ' +
  'to another tenant'

export function createExplainRoute({
  subscriptions,
  deliveries: archive,
  deliveryLog,
  journal,
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

  /** The delivery log has no bodies, so this reads the record of a parked delivery. */
  async function isBodyDropped(delivery: ListedDelivery | undefined): Promise<boolean> {
    if (delivery?.state !== 'parked') return false
    const found = await archive.find(delivery.deliveryId)
    return found?.state === 'parked' && found.body === null
  }

  async function explainEvent({ tenant }: Caller, eventId: EventId) {
    const [event, journaled, present] = await Promise.all([
      deliveryLog.event(eventId),
      journal.find(tenant, eventId),
      subscriptions.list(tenant),
    ])
    if (event !== undefined && event.tenant !== tenant) throw unknownEvent()
    const data = dataOf(journaled)
    const known = new Map(present.map((subscription) => [subscription.id, subscription]))
    const ids = [...new Set([...known.keys(), ...((event ?? journaled)?.subscriptionIds ?? [])])]
    const deliveries = await recordsOf(eventId, ids)
    const stored = storedEventOf(event ?? journaled, deliveries)
    if (stored === undefined) throw unknownEvent()
    // A test is sent to one subscription only, so the others are left out.
    const isTrial = [...deliveries.values()].some(({ trial }) => trial !== undefined)
    const explanations = (isTrial ? [...deliveries.keys()] : ids).map(async (subscriptionId): Promise<Explanation> => {
      const subscription = known.get(subscriptionId)
      const delivery = deliveries.get(subscriptionId)
      return explain({
        eventType: stored.eventType,
        subscriptionId,
        deliveryId: deliveryIdOf(eventId, subscriptionId),
        health:
          subscription !== undefined && isStillToCome(delivery, event, subscriptionId)
            ? await healthOf(subscription)
            : HEALTHY,
        isBodyDropped: data === null && (await isBodyDropped(delivery)),
        ...(event !== undefined && { event }),
        ...(event === undefined && journaled !== undefined && { journaled }),
        ...(subscription !== undefined && { subscription }),
        ...(delivery !== undefined && { delivery }),
      })
    })
    return { eventId, ...stored, data, subscriptions: (await Promise.all(explanations)).map(viewOf) }
  }

  return {
    method: 'get',
    path: '/api/v1/webhooks/events/{eventId}',
    operationId: 'explainEvent',
    tag: 'deliveries',
    role: 'viewer',
    summary: 'Explain the deliveries of an event',
    description:
      'Explains for each subscription whether the event was delivered, and why not: a verdict, a sentence and the relevant times. An event can be explained ' +
      'while the journal has it (24 hours or the latest 20,000 events by default), and after that while one of its deliveries to an existing subscription is waiting or parked. ' +
      'After 1 hour (by default) the records of acknowledged deliveries have expired, and their verdict is `unknown`. For a test ' +
      '(`POST …/test`), only its own subscription is listed.',
    params: { eventId: eventIdSchema },
    responses: {
      200: { description: 'The event, with one explanation per subscription.', body: explainedEventSchema },
    },
    failures: ['event-not-found'],
    async handle({ caller, params: { eventId } }) {
      if (!isGuid(eventId)) throw unknownEvent()
      return { status: 200, body: await explainEvent(caller, parseEventId(eventId)) }
    },
  }
}

const unknownEvent = (): AppError => new AppError('event-not-found', { detail: UNKNOWN })

const dataOf = (journaled: JournalEntry | undefined): unknown =>
  journaled === undefined || journaled.dataJson === null ? null : JSON.parse(journaled.dataJson)

/** If the event's own record has expired, its oldest delivery has the data. */
function storedEventOf(
  event: Pick<EventRecord, 'eventType' | 'occurredAt' | 'fannedOutAt'> | undefined,
  deliveries: ReadonlyMap<SubscriptionId, ListedDelivery>,
): StoredEvent | undefined {
  if (event !== undefined) {
    const { eventType, occurredAt, fannedOutAt } = event
    return { eventType, occurredAt, fannedOutAt }
  }
  const [oldest] = [...deliveries.values()].toSorted((a, b) => (a.firstDueAt < b.firstDueAt ? -1 : 1))
  return oldest && { eventType: oldest.eventType, occurredAt: null, fannedOutAt: oldest.firstDueAt }
}

/** Whether an attempt is still to be made. Only then does the current health of the endpoint matter. */
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
