import { EVENT_TYPES, type EventSubject, parseEventId } from '@switchhook/contracts'
import type { LogQuery, ParkedQuery } from '@switchhook/store'
import { rangeOf } from '../../http/read-range.ts'
import { choice, moment, pageParameters, type QueryOf } from '../../http/schema.ts'
import { DELIVERY_STATES, eventIdSchema } from './delivery-schema.ts'

export const deliveryQuery = {
  state: {
    ...choice([...DELIVERY_STATES, 'any'], 'Only deliveries in this state; `any` for every state.', 'waiting'),
    default: 'parked',
  },
  from: moment(
    'Only deliveries from this time or later. With `state=parked`, the time of parking counts; otherwise the time of the fan-out.',
    '2026-11-20T17:00:00Z',
  ),
  to: moment('Only deliveries before this time.', '2026-11-20T18:00:00Z'),
  eventType: choice(EVENT_TYPES, 'Only this event type.', 'call.status'),
  eventId: { ...eventIdSchema, description: 'Only deliveries of this event.' },
  ...pageParameters,
} as const

export type DeliveryQuery = QueryOf<typeof deliveryQuery>

export function logQueryOf({ state, eventId, ...query }: DeliveryQuery): LogQuery {
  return {
    ...rangeOf(query),
    ...(state !== 'any' && { state }),
    ...(eventId !== undefined && { eventId: parseEventId(eventId) }),
  }
}

export function parkedQueryOf({ eventType, eventId, ...query }: DeliveryQuery): ParkedQuery {
  const wanted = eventId === undefined ? undefined : parseEventId(eventId)
  return {
    ...rangeOf(query),
    matches: (delivery) =>
      (eventType === undefined || delivery.eventType === eventType) &&
      (wanted === undefined || delivery.eventId === wanted),
  }
}

/** Whether an event is about the call and the agent that a query names. */
export const isAbout = (
  wanted: { readonly callId?: string; readonly agentUri?: string },
  { callId, agentUri }: Pick<EventSubject, 'callId' | 'agentUri'>,
): boolean =>
  (wanted.callId === undefined || wanted.callId === callId) &&
  (wanted.agentUri === undefined || wanted.agentUri === agentUri)
