import {
  deliveryIdOf,
  type EventData,
  type EventId,
  factsOfState,
  parseExactly,
  type Subscription,
  type SubscriptionId,
  type Tenant,
} from '@switchhook/contracts'
import { createListCursor, inChunks, type ListedDelivery, type PageQuery } from '@switchhook/store'
import type { WebhookParts } from '../stores.ts'
import { HEALTHY } from '../subscriptions/endpoint-health.ts'
import { explain } from './explain.ts'

export interface ExplainEventDeps extends Pick<WebhookParts, 'healthOf' | 'now'> {
  readonly subscriptions: Pick<WebhookParts['subscriptions'], 'findAll' | 'ids' | 'page'>
  readonly deliveries: Pick<WebhookParts['deliveries'], 'find'>
  readonly deliveryLog: Pick<WebhookParts['deliveryLog'], 'records'>
  readonly journal: Pick<WebhookParts['journal'], 'find' | 'recent' | 'recipients'>
}

interface Chosen {
  readonly id: SubscriptionId
  /** Undefined: it was deleted. */
  readonly subscription: Subscription | undefined
}

/** Subscriptions whose deliveries are searched for an event that the journal does not have. */
const MAX_SEARCHED = 10_000

/** Places: `to 12`, the 13th subscription that the event went to; `others <cursor>`, in the list of all subscriptions. */
const cursors = createListCursor('x', /^(to \d{1,9}|others [A-Za-z0-9_-]*)$/)

/**
 * Explains page by page, first for the subscriptions that the event went to, then for the others, the oldest first. A page
 * reads no more than it shows: a tenant can have 100,000. Undefined: nothing of the event is stored for this tenant.
 */
export async function explainDeliveries(
  { subscriptions, deliveries: archive, deliveryLog, journal, healthOf, now }: ExplainEventDeps,
  tenant: Tenant,
  eventId: EventId,
  query: PageQuery,
) {
  const recordsOf = (of: readonly SubscriptionId[]) => deliveryLog.records(of.map((id) => deliveryIdOf(eventId, id)))

  /** @param recipients the subscriptions that the event went to, as far as they are known */
  async function choose(recipients: ReadonlySet<SubscriptionId>, { limit, cursor }: PageQuery) {
    const [list, place = ''] = (cursor === undefined ? 'to 0' : cursors.parse(cursor)).split(' ')
    const items: Chosen[] = []
    if (list === 'to') {
      const end = Number(place) + limit
      const ids = [...recipients].slice(end - limit, end)
      const present = await subscriptions.findAll(tenant, ids)
      for (const id of ids) items.push({ id, subscription: present.get(id) })
      if (end < recipients.size) return { items, nextCursor: cursors.of(`to ${end}`) }
      if (items.length === limit) return { items, nextCursor: cursors.of('others ') }
    }
    const others = list === 'others' && place !== '' ? { cursor: place } : {}
    const page = await subscriptions.page(tenant, { limit: limit - items.length, ...others })
    for (const subscription of page.items) {
      if (!recipients.has(subscription.id)) items.push({ id: subscription.id, subscription })
    }
    return { items, nextCursor: page.nextCursor && cursors.of(`others ${page.nextCursor}`) }
  }

  /** Deliveries of an event that the journal does not have any more, or never had: tests are not journaled. */
  async function search(): Promise<readonly ListedDelivery[]> {
    let searched = 0
    for await (const ids of subscriptions.ids(tenant)) {
      const found = (await recordsOf(ids)).filter((record) => record !== undefined)
      searched += ids.length
      if (found.length > 0 || searched >= MAX_SEARCHED) return found
    }
    return []
  }

  /** The delivery log has no bodies, so this reads the record of a parked delivery. */
  async function isBodyDropped(delivery: ListedDelivery | undefined): Promise<boolean> {
    if (delivery?.state !== 'parked') return false
    const found = await archive.find(delivery.deliveryId)
    return found?.state === 'parked' && found.body === null
  }

  const journaled = await journal.find(tenant, eventId)
  const everyone = journaled && (await journal.recipients(journaled))
  const isRecent = everyone !== undefined && (await journal.recent(tenant))(Date.parse(journaled?.fannedOutAt ?? ''))
  const found = journaled === undefined ? await search() : []
  // The oldest delivery has the data of an event that the journal does not have.
  const [oldest] = found.toSorted((a, b) => (a.firstDueAt < b.firstDueAt ? -1 : 1))
  const stored =
    journaled ?? (oldest && { eventType: oldest.eventType, occurredAt: null, fannedOutAt: oldest.firstDueAt })
  if (stored === undefined) return undefined
  const data = parseExactly(journaled?.dataJson ?? 'null') as EventData | null
  const { eventType, occurredAt, fannedOutAt } = stored
  // A test is sent to one subscription only, so the others are left out.
  const trial = found.find((delivery) => delivery.trial !== undefined)
  const recipients = new Set(trial === undefined ? (everyone ?? journaled?.subscriptionIds) : [trial.subscriptionId])
  const { items: chosen, nextCursor } = await choose(recipients, trial === undefined ? query : { limit: 1 })
  const deliveries = await recordsOf(chosen.map(({ id }) => id))

  async function explainTo({ id, subscription }: Chosen, delivery: ListedDelivery | undefined) {
    const isRecipient = recipients.has(id)
    // The current health matters only while an attempt is still to be made.
    const next = delivery && factsOfState(delivery.state).next
    const isStillToCome = next === undefined ? isRecent && isRecipient : next === 'due' || next === 'scheduled'
    return explain({
      eventType,
      ...(data !== null && { data }),
      subscriptionId: id,
      deliveryId: deliveryIdOf(eventId, id),
      health: subscription !== undefined && isStillToCome ? await healthOf(subscription) : HEALTHY,
      nowMs: now(),
      isBodyDropped: data === null && (await isBodyDropped(delivery)),
      ...(isRecent && { event: { fannedOutAt, subscriptionIds: isRecipient ? [id] : [] } }),
      ...(!isRecent && journaled !== undefined && { journaled }),
      ...(subscription !== undefined && { subscription }),
      ...(delivery !== undefined && { delivery }),
    })
  }

  return {
    eventId,
    eventType,
    occurredAt,
    fannedOutAt,
    data,
    subscriptions: await inChunks([...chosen.entries()], ([i, one]) => explainTo(one, deliveries[i])),
    nextCursor: trial === undefined ? nextCursor : null,
  }
}
