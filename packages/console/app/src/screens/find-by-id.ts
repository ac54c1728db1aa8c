import type { Delivery, ExplainedEvent, ListedEvent, Page, Recovery, Subscription } from '../api/model.ts'
import { Refused, request } from '../api/request.ts'

export type Found =
  | { readonly kind: 'event'; readonly eventId: string }
  | { readonly kind: 'subscription' | 'recovery' | 'call' | 'nothing' }

const WEBHOOKS = '/api/v1/webhooks'

/** Finds out what an id belongs to. A delivery leads to its event. */
export async function findById(id: string): Promise<Found> {
  const [event, delivery, subscription, recovery, call] = await Promise.all([
    orNothing(request<ExplainedEvent>('GET', `${WEBHOOKS}/events/${id}`)),
    orNothing(request<Delivery>('GET', `${WEBHOOKS}/deliveries/${id}`)),
    orNothing(request<Subscription>('GET', `${WEBHOOKS}/subscriptions/${id}`)),
    orNothing(request<Recovery>('GET', `${WEBHOOKS}/recoveries/${id}`)),
    request<Page<ListedEvent>>('GET', `${WEBHOOKS}/events`, { query: { callId: id, limit: 1 } }),
  ])
  if (event !== undefined) return { kind: 'event', eventId: event.eventId }
  if (delivery !== undefined) return { kind: 'event', eventId: delivery.eventId }
  if (subscription !== undefined) return { kind: 'subscription' }
  if (recovery !== undefined) return { kind: 'recovery' }
  return { kind: call.items.length > 0 || call.nextCursor !== null ? 'call' : 'nothing' }
}

async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Refused && error.isMissing) return undefined
    throw error
  }
}
