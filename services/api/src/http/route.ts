import type { AppError, FailureCode, Fault } from '@switchhook/contracts'
import type { Audited } from '../audit/audit-action.ts'

/** Who asks, as authentication found out. */
export interface Caller {
  /** null: the installation itself. Only what belongs to this tenant exists for the caller. */
  readonly tenant: string | null
  /** The token's `azp`, `client_id` or `sub`; `trusted-network` for a request that was let in by its address. */
  readonly clientId: string
  /** Whose token it is; absent for a request that was let in by its address. */
  readonly issuer?: string
  /** The token's `sub`, where that is somebody else than the client. */
  readonly subject?: string
}

export interface RouteRequest<Body = unknown, Query = unknown> {
  readonly caller: Caller
  /** By the names in the route's path, percent-decoded; not validated. */
  readonly params: Readonly<Record<string, string>>
  /** Matches the route's `query`, defaults filled in; parameters that it does not name are left out. */
  readonly query: Query
  /** Matches the route's `body` and has passed its `validate`; undefined where the route takes none. */
  readonly body: Body
  /** What the answer's `X-Request-Id` says. */
  readonly requestId: string
  /** The GUID for what is made here under this name: the same whenever a request with an idempotency key runs again. */
  readonly idFor: (name: string) => string
  /** Did it come with an `Idempotency-Key`? */
  readonly isKeyed: boolean
}

export interface Answer {
  readonly status: number
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the body, which are secrets: where an answer is kept for its replay, they are sealed. */
  readonly confidential?: Readonly<Record<string, unknown>>
  /** It answers what asked for no change, or what runs already, such as a dry run. It does not stand in the audit log. */
  readonly isUnchanged?: boolean
}

/**
 * JSON Schema 2020-12, written inline without `$ref`. A part that `component` has named appears once in the API
 * document, under its name.
 */
export type Schema = Readonly<Record<string, unknown>>

export interface ResponseDescription {
  readonly description: string
  /** Of the JSON body; absent: no body. */
  readonly body?: Schema
  /** By name: what the header says. */
  readonly headers?: Readonly<Record<string, Schema>>
}

/** A failure whose status here is not the one in the table of failures. */
export interface FailureAt {
  readonly code: FailureCode
  readonly status: number
}

type Method = 'get' | 'post' | 'patch' | 'delete'

type Tag = 'subscriptions' | 'deliveries' | 'calls' | 'agents' | 'simulator' | 'audit' | 'document'

/**
 * One operation: what is mounted, what is validated and what the API document says, all from here. `handle` and
 * `validate` are declared as methods so that a `Route<DialBody>` fits into a table of `Route`: the schema in `body` is
 * what makes that safe.
 */
export interface Route<Body = unknown, Query = unknown> {
  readonly method: Method
  /** In full and in OpenAPI's style: `/api/v1/voice/calls/{callId}/hangup`. */
  readonly path: string
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** Needs no token. */
  readonly isPublic?: true
  /**
   * Takes an `Idempotency-Key`. After a crash `handle` runs again for the same request, so what it makes bears the ids of
   * `idFor`, and making it twice makes it once.
   */
  readonly idempotent?: true
  /** Its successes stand in the audit log, but for answers that say `isUnchanged`. Each webhook route that changes or sends something has it. */
  readonly audit?: Audited
  /** Of each name in `path`. */
  readonly params?: Readonly<Record<string, Schema>>
  /** Of each query parameter; all are optional. `integer`, `boolean` and `string` are understood. */
  readonly query?: Readonly<Record<string, Schema>>
  /** An object's schema. Present: the request must carry `application/json` that matches. */
  readonly body?: Schema
  /** A request without a body counts as one with an empty object. */
  readonly isBodyOptional?: true
  /** A request without a body is refused by `validate`, which gets undefined, instead of with `malformed-json`. */
  readonly validatesAbsentBody?: true
  /** The successes, by status. */
  readonly responses: Readonly<Record<number, ResponseDescription>>
  /** The failures of its own; what every route can answer is added (`commonFailures`). */
  readonly failures: readonly (FailureCode | FailureAt)[]
  /**
   * Judges a JSON body together with the faults that its schema found (none: it matches). Absent: any fault is an
   * `invalid-request` that lists them. Present: its answer decides alone, so it must not pass a body that has faults.
   */
  validate?(body: unknown, faults: readonly Fault[]): AppError | undefined
  /** Throws AppError for what a client may know; anything else that it throws is answered 500 (or 503 if Unavailable). */
  handle(request: RouteRequest<Body, Query>): Promise<Answer>
}
