import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

export const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
export const OTHER_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`

/** A delivery, as a worker sends it. */
export interface SentDelivery {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

interface Sending {
  readonly id?: string
  readonly eventType?: string
  readonly data?: object
  readonly occurredAt?: string
  readonly secret?: string
  readonly atMs?: number
  readonly isTest?: boolean
  readonly isSparse?: boolean
}

export const AGENT = 'sip:alice@acme.example'

export function aDelivery(sending: Sending = {}): SentDelivery {
  const { id = randomUUID(), eventType = 'call.status', secret = SECRET, atMs = Date.now(), data = {} } = sending
  const {
    occurredAt = new Date(Date.UTC(2026, 10, 20) + ((data as { sequence?: number }).sequence ?? 0)).toISOString(),
  } = sending
  const body = JSON.stringify({ deliveryId: id, eventType, occurredAt, tenant: 'acme', data: { ...data, occurredAt } })
  const at = new Date(atMs)
  return {
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-svc-event': eventType,
      'x-svc-event-id': randomUUID(),
      'x-svc-attempt': '1',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(atMs / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
      ...(sending.isTest && { 'x-svc-test': 'true' }),
      ...(sending.isSparse && { 'x-svc-sparse': 'true' }),
    },
  }
}

/** The snapshot of a leg. */
export const aLeg = (sequence: number, state = 3, callId = 'call-1') => ({ callId, agentUri: AGENT, sequence, state })

export const asRequest = ({ body, headers }: SentDelivery): Request =>
  new Request('https://client.example/hooks', { method: 'POST', body, headers })
