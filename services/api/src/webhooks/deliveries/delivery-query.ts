import { EVENT_TYPES, parseEventId } from '@switchhook/contracts'
import type { DeliveryState, LogQuery, ParkedQuery } from '@switchhook/store'
import { pageParameters } from '../../http/page-schema.ts'
import { type Range, rangeOf } from '../../http/read-range.ts'
import { time } from '../../http/schema-parts.ts'
import { DELIVERY_STATES } from './delivery-schema.ts'

/** The query of the list of a subscription's deliveries. */
export interface DeliveryQuery extends Range {
  readonly state: DeliveryState | 'any'
  readonly eventType?: string
  readonly eventId?: string
}

export const deliveryQuery = {
  state: {
    type: 'string',
    enum: [...DELIVERY_STATES, 'any'],
    default: 'parked',
    description: 'Only deliveries in this state; `any` for every state.',
    examples: ['waiting'],
  },
  from: time(
    'Only deliveries from this time or later. With `state=parked`, the time of parking counts; otherwise the time of the fan-out.',
  ),
  to: time('Only deliveries before this time.', '2026-11-20T18:00:00Z'),
  eventType: { type: 'string', enum: EVENT_TYPES, description: 'Only this event type.', examples: ['call.status'] },
  eventId: {
    type: 'string',
    format: 'uuid',
    description: 'Only deliveries of this event.',
    examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'],
  },
  ...pageParameters,
} as const

export function logQueryOf({ state, eventType, eventId, ...query }: DeliveryQuery): LogQuery {
  return {
    ...rangeOf(query),
    ...(state !== 'any' && { state }),
    ...(eventType !== undefined && { eventType }),
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
