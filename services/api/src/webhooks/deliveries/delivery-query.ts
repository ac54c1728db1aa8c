import {
  canonicalCallId,
  DELIVERY_STATES,
  EVENT_TYPES,
  type EventId,
  type EventSubject,
  type ParkedReason,
  type Tenant,
} from '@switchhook/contracts'
import { type Platform, provisionedUri } from '@switchhook/platform'
import type { ListedDelivery } from '@switchhook/store'
import { choice, moment, pageParameters, type QueryOf } from '../../http/schema.ts'
import { eventIdSchema } from './delivery-schema.ts'

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

interface WantedDeliveries extends Pick<DeliveryQuery, 'state' | 'eventType'> {
  readonly eventId?: EventId
  readonly parkedReason?: ParkedReason
  readonly outcome?: string
  readonly status?: number
}

/** Whether a list shows a delivery. `outcome` and `status` are of its latest attempt. */
export const matcherOf =
  ({ state, eventType, eventId, parkedReason, outcome, status }: WantedDeliveries) =>
  (delivery: ListedDelivery): boolean => {
    const latest = delivery.attempts.at(-1)
    return (
      // A redelivery that is not known to be published has another state, and still counts as parked.
      (state === 'any' || state === 'parked' || delivery.state === state) &&
      (eventType === undefined || delivery.eventType === eventType) &&
      (eventId === undefined || delivery.eventId === eventId) &&
      (parkedReason === undefined || delivery.parkedReason === parkedReason) &&
      (outcome === undefined || latest?.outcome === outcome) &&
      (status === undefined || latest?.status === status)
    )
  }

export interface WantedSubject {
  readonly callId?: string
  readonly agentUri?: string
}

export interface SubjectDeps {
  readonly contactCenter: { readonly platform: Pick<Platform, 'findAgent'> }
}

/** The call and the agent that a query names, as events name them. */
export const subjectAsked = async (
  { contactCenter: { platform } }: SubjectDeps,
  tenant: Tenant,
  { callId, agentUri }: WantedSubject,
) => ({
  ...(callId !== undefined && { callId: canonicalCallId(callId) }),
  ...(agentUri !== undefined && { agentUri: await provisionedUri(platform, tenant, agentUri) }),
})

/** Whether an event is about the call and the agent that `subjectAsked` found. */
export const isAbout = (
  wanted: WantedSubject,
  { callId, agentUri }: Pick<EventSubject, 'callId' | 'agentUri'>,
): boolean =>
  (wanted.callId === undefined || wanted.callId === callId) &&
  (wanted.agentUri === undefined || wanted.agentUri === agentUri)
