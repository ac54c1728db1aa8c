import { randomUUID } from 'node:crypto'
import { settableNames, type Tenant } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { type AuditStore, createAuditStore, type Redis } from '@switchhook/store'
import { type AuditAction, type Audited, listOf } from '../audit-action.ts'
import type { Answer, Caller, Route, RouteRequest, RouteSpec } from '../route.ts'
import { openLaterEntries } from './later-entries.ts'

/** One entry as it is stored for its tenant: who did what, to what, from where. Names and ids, never values. */
export type AuditEntry = ReturnType<typeof createEntry>

interface Done {
  readonly on: Readonly<Record<string, string>>
  /** The names of the fields that the request body set. */
  readonly fields: readonly string[]
  readonly status: number
}

export interface Origin {
  /** The client's address: the peer of the socket, or the address that a trusted proxy reports. */
  readonly address: string | undefined
  readonly userAgent: string | undefined
  readonly requestId: string
  readonly traceId: string | undefined
}

export type AuditLog = ReturnType<typeof openAudit>

/** Handles a request, and records it if its route is audited. */
export type Audit = AuditLog['carryOut']

export function openAudit(
  config: Readonly<Record<'AUDIT_LOG_SIZE' | 'AUDIT_COMMANDS_SIZE' | 'AUDIT_RETENTION', number>>,
  redis: Redis,
  log: Pick<Logger, 'info' | 'warn'>,
): Pick<AuditStore, 'page'> & ReturnType<typeof createAudit> {
  const store = createAuditStore(redis, {
    entries: { webhooks: config.AUDIT_LOG_SIZE, commands: config.AUDIT_COMMANDS_SIZE },
    retentionMs: config.AUDIT_RETENTION,
  })
  return { ...store, ...createAudit(store, log) }
}

/**
 * The only writer of the audit log. After a change succeeded, its entry is a line of the service's log and a record in
 * Redis. The answer to a webhook change waits for the record, that of a command does not. A failed record never undoes the
 * change: the line is already there, and a warning follows it.
 */
export function createAudit(auditLog: Pick<AuditStore, 'append'>, log: Pick<Logger, 'info' | 'warn'>) {
  const later = openLaterEntries(auditLog, log)

  async function write(tenant: Caller['tenant'], entry: AuditEntry): Promise<void> {
    const { action } = entry
    log.info('audit', { tenant, ...entry })
    if (listOf(action) === 'commands') return later.add(tenant, { action, entry })
    await auditLog.append(tenant, 'webhooks', [{ action, entry }]).catch((error: unknown) => {
      log.warn('an entry of the audit log could not be stored', { requestId: entry.requestId, error })
    })
  }

  return {
    carryOut: async (route: Route, request: RouteRequest, origin: Origin): Promise<Answer> => {
      const answer = await route.handle(request)
      const { audit } = route
      if (audit === undefined || answer.isUnchanged === true) return answer
      const { caller, params, body } = request
      const done = { on: auditedIds(audit, params, answer), fields: fieldsOf(route, body), status: answer.status }
      await write(caller.tenant, createEntry(audit.action, caller, origin, done))
      return answer
    },
    /** Records what the service itself has done, without a request. */
    recordOwn: (tenant: Tenant, action: AuditAction, on: Done['on']): Promise<void> => {
      const origin = { address: undefined, userAgent: undefined, requestId: randomUUID(), traceId: undefined }
      return write(tenant, createEntry(action, { clientId: SERVICE }, origin, { on, fields: [], status: NO_CONTENT }))
    },
    /** Resolves once the entries so far are stored or given up. */
    close: later.stored,
  }
}

/** Without an issuer. A client that has this name has one. */
const SERVICE = 'switchhook'
/** The answer that a client would have got: an entry has a status. */
const NO_CONTENT = 204

const MAX_USER_AGENT_LENGTH = 256

export function createEntry(
  action: AuditAction,
  caller: Pick<Caller, 'clientId' | 'subject' | 'issuer'>,
  origin: Origin,
  done: Done,
) {
  const { clientId, subject, issuer } = caller
  const { address, userAgent, requestId, traceId } = origin
  return {
    action,
    clientId,
    subject: subject ?? null,
    // Null: the request had no token.
    issuer: issuer ?? null,
    ...done,
    // A dual-stack socket reports an IPv4 peer as an IPv4-mapped IPv6 address.
    address: address?.replace(/^::ffff:(?=\d+\.)/i, '') ?? null,
    userAgent: userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    requestId,
    traceId: traceId ?? null,
  }
}

/** The names of the body's fields that a request to the route can set. An unknown name could be a secret. */
export function fieldsOf({ body: schema = {} }: Pick<RouteSpec, 'body'>, body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return []
  return settableNames(schema).filter((name) => Object.hasOwn(body, name))
}

/** The ids to record for one request. Only a subscription is named by `id`. Values that are not strings are left out. */
export function auditedIds({ ids }: Audited, params: RouteRequest['params'], { body }: Answer): Record<string, string> {
  const { id, ...others }: Readonly<Record<string, unknown>> = { ...params, ...(body as object) }
  const known: typeof others = { subscriptionId: id, ...others }
  const named = ids.map((name) => [name, known[name]] as const)
  return Object.fromEntries(named.filter((id): id is [string, string] => typeof id[1] === 'string'))
}
