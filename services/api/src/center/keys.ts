import { createHash } from 'node:crypto'
import type { CallId } from '@switchhook/contracts'

/** Names of records within a tenant (packages/store, `StateStore`). */
export const callKey = (callId: CallId): string => `call:${callId}`
export const agentKey = (agentUri: string): string => `agent:${agentUri}`

/** What makes a dial without an `Idempotency-Key` the same as an earlier one. */
export interface DialLikeness {
  readonly clientId: string
  readonly agentUri: string
  readonly destination: string
  readonly correlationId: string
}

export function dialKey({ clientId, agentUri, destination, correlationId }: DialLikeness): string {
  const likeness = JSON.stringify([clientId, agentUri, destination, correlationId])
  return `dial:${createHash('sha256').update(likeness).digest('hex')}`
}

/** Names of timers; what is before the first colon says whose they are. */
export const auditTimerId = (callId: CallId): string => `audit:${callId}`
