import type { AppError, FailureCode, Fault, Tenant } from '@switchhook/contracts'
import type { Audited } from './audit-action.ts'
import type { EventOutput } from './event-output.ts'
import type { Role } from './role.ts'
import type { Schema } from './schema.ts'

export interface Caller {
  /** The caller sees only the data of this tenant. null: the installation itself. */
  readonly tenant: Tenant
  /** The client that the token names, or its `sub`; `trusted-network` for a request without a token. */
  readonly clientId: string
  /** Issuer of the token; absent for a request without a token. */
  readonly issuer?: string
  /** The token's `sub`, if it differs from the client. */
  readonly subject?: string
  /** null: the token gives no role, so the caller may do nothing. */
  readonly role: Role | null
  /** The token's `exp`, ms since 1970; absent for a request without a token. */
  readonly expiresAtMs?: number
}

/**
 * The name under which what a caller has in progress is counted. The users of one client, such as the console, count
 * apart. Undefined: a request without a token, which comes from a trusted network and is not limited.
 */
export const limitedClientOf = ({ issuer, clientId, subject }: Caller): string | undefined =>
  issuer === undefined ? undefined : JSON.stringify([issuer, clientId, subject])

export interface RouteRequest<Body = unknown, Query = unknown> {
  readonly caller: Caller
  /** By name of the path parameter; percent-decoded, not validated. */
  readonly params: Readonly<Record<string, string>>
  /** Matches the route's `query`, with defaults; without unknown parameters. */
  readonly query: Query
  /** Matches the route's `body` and has passed its `validate`; undefined for a route without a body. */
  readonly body: Body
  readonly requestId: string
  /** GUID of a resource that the handler creates. The same name yields the same GUID when a keyed request runs again. */
  readonly idFor: (name: string) => string
  readonly isKeyed: boolean
  /** An earlier run of this keyed request may have taken effect: its process died, or it failed with a 5xx. */
  readonly isRerun?: boolean
  /** The header `If-Match` of a request to a `conditional` route, for `requireMatch`. */
  readonly ifMatch?: string
  readonly isClosed: () => boolean
  /** The header `Last-Event-ID` of a request for a stream. */
  readonly lastEventId?: string
}

export interface Answer {
  readonly status: number
  /** Sent as JSON; undefined: no body; a `FixedJson` is serialised once. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Secret fields of the body. They are sealed when the answer is stored for its replay. */
  readonly confidential?: Readonly<Record<string, unknown>>
  /** Large fields of the body. A stored answer leaves them out, and the route's `reread` supplies them for its replay. */
  readonly large?: Readonly<Record<string, unknown>>
  /** Called once the answer to a keyed request is stored, so that the handler will not run again. */
  readonly answered?: () => Promise<void>
  /** The request changed nothing, such as a command without effect; it gets no audit entry. */
  readonly isUnchanged?: boolean
  /** Takes over the response, which is a stream of events without a `body`. Must not throw. */
  readonly stream?: (output: EventOutput) => void
}

export interface ResponseDescription {
  readonly description: string
  /** Schema of the JSON body; absent: no body. */
  readonly body?: Schema
  /** The response is a stream of server-sent events: an example of its text, and the schemas of its data by name. */
  readonly events?: { readonly example: string; readonly messages: Readonly<Record<string, Schema>> }
  readonly headers?: Readonly<Record<string, Schema>>
}

/** A failure with another status than in the table of failures. */
export interface FailureAt {
  readonly code: FailureCode
  readonly status: number
}

type Method = 'get' | 'post' | 'patch' | 'delete'

type Tag = 'subscriptions' | 'deliveries' | 'calls' | 'agents' | 'simulator' | 'audit' | 'me' | 'document'

export const reads = (tag: Tag) => ({ method: 'get', tag, role: 'viewer' }) as const

/** A route that reads or searches hundreds of records. */
export const searches = (tag: Tag) => ({ ...reads(tag), isExpensive: true }) as const

/** A route that sends something or acts on something, and changes no setting. */
export const acts = (tag: Tag) => ({ method: 'post', tag, role: 'operator' }) as const

/** One operation of the API without its handler. The API document and the checks of all routes need nothing else. */
export interface RouteSpec {
  readonly method: Method
  /** The full path in OpenAPI's notation: `/api/v1/voice/calls/{callId}/hangup`. */
  readonly path: string
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /**
   * The role that a caller needs. Every route that needs a token names one (a test checks it); a route without one is for
   * admins only. On a public route: the role that a request with a token needs.
   */
  readonly role?: Role
  /** The role that a valid body needs, if some need more than `role`. */
  roleFor?(body: unknown): Role
  /** Needs no token. A token is checked only if the route names a role. */
  readonly isPublic?: true
  /**
   * Takes an `Idempotency-Key`; all other routes except GET refuse the header. After a crash `handle` runs again for the
   * same request, so it must take the ids of new resources from `idFor`, and creating a resource twice must have no further
   * effect.
   */
  readonly idempotent?: true
  /** Takes an `If-Match`. `handle` compares it in the same atomic write as its change. */
  readonly conditional?: true
  /**
   * Writes an audit entry for each success that is not `isUnchanged`. Required for every route below `/api/v1` that
   * changes or sends something, except for those by which clients receive deliveries.
   */
  readonly audit?: Audited
  /** Reads or searches hundreds of records. The expensive requests of a client run one after the other. */
  readonly isExpensive?: true
  readonly params?: Readonly<Record<string, Schema>>
  /** Schema of each query parameter: `integer`, `boolean` or `string`. All are optional. */
  readonly query?: Readonly<Record<string, Schema>>
  /** Schema of an object. If present, the request must carry matching `application/json`. */
  readonly body?: Schema
  /** A request without a body is handled like one with an empty object. */
  readonly isBodyOptional?: true
  /** A request without a body goes to `validate` as undefined, instead of being answered `malformed-json`. */
  readonly validatesAbsentBody?: true
  /** Answers with a stream that can be resumed by `Last-Event-ID`. */
  readonly isStream?: true
  /** The answer waits on purpose, for a delivery or an endpoint. */
  readonly waits?: true
  readonly responses: Readonly<Record<number, ResponseDescription>>
  /** The route's own failures. `commonFailures` adds those of every route. */
  readonly failures?: readonly (FailureCode | FailureAt)[]
}

/**
 * A route as a feature declares it. Its functions get the dependencies of the feature. They are properties, so a missing
 * dependency is a type error, and a route of a list has `never` as its body and query.
 */
export interface RouteOf<Deps, Body = never, Query = never> extends RouteSpec {
  /**
   * Validates a JSON body, given the faults that the schema has found. It alone decides, so it must return an error if there
   * are faults. A route without `validate` answers faults with `invalid-request`.
   */
  readonly validate?: (body: unknown, faults: readonly Fault[], deps: Deps) => AppError | undefined
  /** Reads the `large` fields of a stored answer again. @param body the stored body */
  readonly reread?: (caller: Caller, body: unknown, deps: Deps) => Promise<NonNullable<Answer['large']>>
  /** Throws AppError for errors that clients may see. Any other error is answered 500, or 503 for Unavailable. */
  readonly handle: (request: RouteRequest<Body, Query>, deps: Deps) => Promise<Answer>
}

export interface Route extends RouteSpec {
  readonly validate?: (body: unknown, faults: readonly Fault[]) => AppError | undefined
  readonly reread?: (caller: Caller, body: unknown) => Promise<NonNullable<Answer['large']>>
  readonly handle: (request: RouteRequest) => Promise<Answer>
}

export function bind<Deps>({ validate, reread, handle, ...spec }: RouteOf<Deps>, deps: Deps): Route {
  return {
    ...spec,
    ...(validate && { validate: (body, faults) => validate(body, faults, deps) }),
    ...(reread && { reread: (caller, body) => reread(caller, body, deps) }),
    // The schemas of the route have checked the body and the query.
    handle: (request) => handle(request as RouteRequest<never, never>, deps),
  }
}

/** Whether a token is checked, if there is one. */
export const readsToken = ({ isPublic, role }: Pick<RouteSpec, 'isPublic' | 'role'>): boolean =>
  isPublic !== true || role !== undefined
