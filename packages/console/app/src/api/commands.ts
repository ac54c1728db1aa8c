import type {
  CallCommand,
  CreatedSubscription,
  NewBackfill,
  NewRecovery,
  NewSubscription,
  ReceiverReport,
  Recovery,
  RecoveryCount,
  RotatedSecret,
  Subscription,
  SubscriptionChange,
  TestDelivery,
} from './model.ts'
import { request } from './request.ts'

/** Everything that the console changes. Where the API takes an idempotency key, a repeat of the request has no effect. */

const subscriptions = '/api/v1/webhooks/subscriptions'
const webhooks = '/api/v1/webhooks'
const once = { once: true } as const

export const createSubscription = (body: NewSubscription): Promise<CreatedSubscription> =>
  request('POST', subscriptions, { body, ...once })

export const changeSubscription = (id: string, body: SubscriptionChange): Promise<Subscription> =>
  request('PATCH', `${subscriptions}/${id}`, { body })

export const deleteSubscription = (id: string): Promise<void> => request('DELETE', `${subscriptions}/${id}`)

export const rotateSecret = (id: string, overlapSeconds: number): Promise<RotatedSecret> =>
  request('POST', `${subscriptions}/${id}/rotate-secret`, { body: { overlapSeconds }, ...once })

export const sendTest = (id: string, eventType?: string): Promise<TestDelivery> =>
  request('POST', `${subscriptions}/${id}/test`, { body: eventType === undefined ? {} : { eventType }, ...once })

export const checkReceiver = (id: string): Promise<ReceiverReport> =>
  request('POST', `${subscriptions}/${id}/check`, { body: {} })

export const redeliver = (deliveryId: string): Promise<{ readonly deliveryId: string }> =>
  request('POST', `${webhooks}/deliveries/${deliveryId}/redeliver`, once)

export const deliverEvent = (eventId: string, subscriptionId: string): Promise<{ readonly deliveryId: string }> =>
  request('POST', `${webhooks}/events/${eventId}/deliver`, { body: { subscriptionId }, ...once })

export const countRecovery = (id: string, wish: NewRecovery): Promise<RecoveryCount> =>
  request('POST', `${subscriptions}/${id}/recover`, { body: { ...wish, dryRun: true } })

export const startRecovery = (id: string, wish: NewRecovery): Promise<Recovery> =>
  request('POST', `${subscriptions}/${id}/recover`, { body: wish, ...once })

export const countBackfill = (id: string, wish: NewBackfill): Promise<RecoveryCount> =>
  request('POST', `${subscriptions}/${id}/backfill`, { body: { ...wish, dryRun: true } })

export const startBackfill = (id: string, wish: NewBackfill): Promise<Recovery> =>
  request('POST', `${subscriptions}/${id}/backfill`, { body: wish, ...once })

export const cancelRecovery = (id: string): Promise<Recovery> => request('POST', `${webhooks}/recoveries/${id}/cancel`)

export const commandCall = (
  callId: string,
  command: CallCommand,
  body: { readonly agentUri: string; readonly transferTarget?: string; readonly blind?: boolean },
): Promise<unknown> => request('POST', `/api/v1/voice/calls/${callId}/${command}`, { body, ...once })

export const ringAgent = (agentUri: string, from: string): Promise<{ readonly callId: string }> =>
  request('POST', '/simulator/v1/calls', { body: { agentUri, from } })

export const actRemotely = (callId: string, action: 'answer' | 'hangup' | 'hold' | 'resume'): Promise<unknown> =>
  request('POST', `/simulator/v1/calls/${callId}/remote`, { body: { action } })

export const setDevice = (agentUri: string, online: boolean): Promise<unknown> =>
  request('POST', `/simulator/v1/agents/${encodeURIComponent(agentUri)}/device`, { body: { online } })
