import { client, isMissing } from '../api/client.ts'

export type Found =
  | { readonly kind: 'event'; readonly eventId: string }
  | { readonly kind: 'subscription' | 'recovery' | 'call' | 'nothing' }

/** Finds out what an id belongs to. A delivery leads to its event. */
export async function findById(id: string): Promise<Found> {
  const [event, delivery, subscription, recovery, call] = await Promise.all([
    orNothing(client.events.explain(id)),
    orNothing(client.deliveries.read(id)),
    orNothing(client.subscriptions.read(id)),
    orNothing(client.recoveries.read(id)),
    client.events.list({ callId: id, limit: 1 }).page(),
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
    if (isMissing(error)) return undefined
    throw error
  }
}
