import { CallState, type Schemas } from '@switchhook/client'
import type { Position } from './store.ts'

type WebhookDelivery = Schemas['WebhookDelivery']

/** An event type that this version knows. */
export type KnownType = WebhookDelivery['eventType']

/** An agent's state. What only an event tells is missing if `reconcile` read it. */
export type AgentSnapshot = Partial<Schemas['AgentStatus']> & Omit<Schemas['AgentStatus'], ToldByEvent>
type ToldByEvent = 'previousStatusCode' | 'previousDeviceStatus' | 'reason'

/** The event of one type, as its handler gets it. `data` may have more fields in later versions. */
export interface EventOf<Type extends KnownType> {
  readonly eventType: Type
  /** ISO 8601, UTC. */
  readonly occurredAt: string
  /** Null: an event of the installation itself. */
  readonly tenant: string | null
  readonly data: Type extends 'agent.status' ? AgentSnapshot : Extract<WebhookDelivery, { eventType: Type }>['data']
}

/** An event of any type, known or not. */
export interface AnyEvent {
  readonly eventType: string
  readonly occurredAt: string
  readonly tenant: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** Reads the body of a delivery. Undefined: it is none. */
export function parseEvent(body: string): AnyEvent | undefined {
  try {
    const { eventType, occurredAt, tenant, data } = JSON.parse(body) as Partial<AnyEvent>
    if (typeof eventType !== 'string' || typeof occurredAt !== 'string' || typeof data !== 'object') return undefined
    return data === null ? undefined : { eventType, occurredAt, tenant: tenant ?? null, data }
  } catch {
    return undefined
  }
}

/** The leg of a call, or the agent, whose state an event tells. Undefined: the event has no order. */
export function subjectOf({
  eventType,
  occurredAt,
  tenant,
  data,
}: AnyEvent): { readonly subject: string; readonly position: Position } | undefined {
  const { callId, agentUri, sequence, state } = data
  const names = eventType === 'call.status' ? [callId, agentUri] : eventType === 'agent.status' ? [agentUri] : []
  const isOrdered = Number.isInteger(sequence) && !Number.isNaN(Date.parse(occurredAt))
  if (!isOrdered || names.length === 0 || names.some((name) => typeof name !== 'string')) return undefined
  const ended = eventType === 'call.status' && state === CallState.ended
  return {
    subject: JSON.stringify([tenant, eventType, ...names]),
    position: { occurredAt, sequence: sequence as number, ended },
  }
}
