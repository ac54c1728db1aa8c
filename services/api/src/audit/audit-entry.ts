import type { Caller, Route } from '../http/route.ts'
import type { AuditAction } from './audit-action.ts'

/** What was done, by whom, from where; as it is stored, for its tenant. Names and ids, never values. */
export interface AuditEntry {
  readonly action: AuditAction
  /** Of the token's `azp`, `client_id` or `sub`; `trusted-network` for somebody who was let in by the address. */
  readonly clientId: string
  /** The token's `sub`, where that is somebody else than the client. */
  readonly subject: string | null
  /** null: there was no token. */
  readonly issuer: string | null
  readonly on: Readonly<Record<string, string>>
  /** The members that the request's body set. */
  readonly fields: readonly string[]
  readonly address: string | null
  readonly userAgent: string | null
  readonly status: number
  readonly requestId: string
  readonly traceId: string | null
}

/** Where a request came from, and under which names it can be found again. */
export interface Origin {
  /** The client's: the socket's, or what a trusted proxy says. */
  readonly address: string | undefined
  readonly userAgent: string | undefined
  readonly requestId: string
  readonly traceId: string | undefined
}

const MAX_USER_AGENT_LENGTH = 256

export function createEntry(
  action: AuditAction,
  { clientId, subject, issuer }: Caller,
  { address, userAgent, requestId, traceId }: Origin,
  done: Pick<AuditEntry, 'on' | 'fields' | 'status'>,
): AuditEntry {
  return {
    action,
    clientId,
    subject: subject ?? null,
    issuer: issuer ?? null,
    ...done,
    // An IPv4 address as IPv4, where the socket is of both kinds.
    address: address?.replace(/^::ffff:(?=\d+\.)/i, '') ?? null,
    userAgent: userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    requestId,
    traceId: traceId ?? null,
  }
}

/** The members of a body that its route knows, by name. */
export function fieldsOf({ body: schema }: Pick<Route, 'body'>, body: unknown): string[] {
  const known = (schema?.['properties'] ?? {}) as Readonly<Record<string, unknown>>
  if (typeof body !== 'object' || body === null) return []
  return Object.keys(known).filter((name) => Object.hasOwn(body, name))
}
