import { Unavailable } from './unavailable.ts'
import type { Fault } from './validator.ts'

/**
 * Every error code of the API. Responses, the API document and the tests read this table. `status` is the HTTP status unless
 * an error overrides it (`missing-agent-uri` is 401 on dial and transfer).
 */
export const FAILURES = {
  'invalid-request': { status: 400, title: 'The request is invalid' },
  'malformed-json': { status: 400, title: 'The body is not valid JSON in UTF-8' },
  'invalid-webhook-url': { status: 400, title: 'The url is missing or not allowed' },
  'unknown-event-type': { status: 400, title: 'An event type is unknown or missing' },
  'invalid-filter': { status: 400, title: 'The filter is not valid' },
  'unknown-status-code': { status: 400, title: 'The user status code is missing or unknown' },
  'missing-agent-uri': { status: 400, title: 'The field agentUri is required' },
  unauthorized: { status: 401, title: 'A valid access token is required' },
  forbidden: { status: 403, title: 'The role of the caller does not allow this operation' },
  'host-not-allowed': { status: 403, title: 'Requests without a token are not served under this host' },
  'cross-site-request': {
    status: 403,
    title: 'A page of another site sent this request without a token; such requests need a token',
  },
  'not-found': { status: 404, title: 'No such resource' },
  'subscription-not-found': { status: 404, title: 'No such subscription' },
  'delivery-not-found': { status: 404, title: 'No such delivery, or its record has expired' },
  'event-not-found': { status: 404, title: 'No such event, or its record has expired' },
  'recovery-not-found': { status: 404, title: 'No such recovery, or its record has expired' },
  'agent-not-found': { status: 404, title: 'No such agent' },
  'call-not-found': { status: 404, title: 'No such call, or the agent is not part of it' },
  'method-not-allowed': { status: 405, title: 'The resource does not support this method' },
  'invalid-call-state': { status: 409, title: 'The command is not allowed in the current state of the call' },
  'remote-answer-unsupported': {
    status: 409,
    title: "The agent's device cannot be answered by a command; the agent has to answer at the device",
  },
  'transfer-in-progress': { status: 409, title: 'Another transfer of this call is in progress' },
  'agent-device-unavailable': { status: 409, title: "The agent's device is not available" },
  'delivery-not-parked': { status: 409, title: 'The delivery cannot be sent again now' },
  'delivery-without-body': {
    status: 409,
    title: 'The body of this delivery is no longer kept; it cannot be sent again',
  },
  'event-without-body': { status: 409, title: 'The journal does not have the body of this event' },
  'journal-off': { status: 409, title: 'The event journal is turned off in this installation' },
  'subscription-disabled': { status: 409, title: 'The subscription is disabled' },
  'subscription-deleted': { status: 409, title: 'The subscription of this delivery was deleted' },
  'too-many-secrets': { status: 409, title: 'Too many previous secrets are still active; wait for one to expire' },
  'external-id-taken': { status: 409, title: 'Another subscription has this externalId' },
  'too-many-subscriptions': { status: 409, title: 'The tenant has reached its limit of subscriptions' },
  'subscription-not-pull': {
    status: 409,
    title: 'The subscription is not a pull subscription; its deliveries are sent to its url',
  },
  'subscription-pull': { status: 409, title: 'The subscription is a pull subscription; it has no url' },
  'check-running': { status: 409, title: 'A check of this endpoint is already running' },
  'secret-unavailable': {
    status: 409,
    title: 'The signing secret cannot be decrypted; rotate the secret or contact the operator',
  },
  'recovery-in-progress': { status: 409, title: 'Another recovery is in progress' },
  'idempotency-key-in-use': { status: 409, title: 'A request with this Idempotency-Key is still in progress' },
  'precondition-failed': { status: 412, title: 'The resource has changed since it was read' },
  'body-too-large': { status: 413, title: 'The body is larger than 64 KiB' },
  'unsupported-media-type': { status: 415, title: 'The body must be application/json' },
  'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key was used with a different request' },
  'rate-limited': { status: 429, title: 'Too many requests; retry later' },
  'too-many-listeners': { status: 429, title: 'Too many listeners read the live stream; retry later' },
  'too-many-client-listeners': {
    status: 429,
    title: 'This client has too many live streams open; close one, or retry later',
  },
  'too-many-checks': { status: 429, title: 'Too many endpoint checks are running; retry in a few seconds' },
  'too-many-receivers': { status: 429, title: 'Too many requests wait for deliveries; retry later' },
  internal: { status: 500, title: 'Internal error' },
  'platform-unavailable': { status: 503, title: 'The contact center is unavailable; the command was not executed' },
  'check-unfinished': { status: 503, title: 'The check did not finish in time; retry' },
  'outcomes-unfinished': { status: 503, title: 'The outcomes are recorded, but not applied yet' },
  'service-unavailable': { status: 503, title: 'The service is temporarily unavailable; retry' },
} as const satisfies Record<string, { status: number; title: string }>

export type FailureCode = keyof typeof FAILURES

export interface FailureExtra {
  readonly detail?: string
  readonly errors?: readonly Fault[]
  readonly status?: number
  readonly knownEventTypes?: readonly string[]
  readonly knownFields?: Readonly<Record<string, readonly string[]>>
  readonly knownStatusCodes?: readonly { readonly code: number; readonly name: string }[]
  readonly requiredRole?: string
  readonly currentState?: number
  readonly allowedCommands?: readonly string[]
}

/** An error for the client. Every other error becomes `internal`, without details. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: FailureCode
  readonly extra: FailureExtra

  constructor(code: FailureCode, extra: FailureExtra = {}, options?: ErrorOptions) {
    super(extra.detail ?? FAILURES[code].title, options)
    this.code = code
    this.extra = extra
  }
}

/** The page of the api that describes every error code; each code is a fragment of it. */
export const PROBLEMS_PAGE = '/api/v1/docs/problems'

/** RFC 9457 `application/problem+json`. Users quote `requestId` to the operator. */
export interface Problem extends Omit<FailureExtra, 'status'> {
  /** A path of the api, because only clients know by which host they reach the installation (ADR 0062). */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: FailureCode
  readonly requestId: string
}

/** The error response. An error that is not meant for clients becomes `internal` and shows only the request id. */
export function toProblem(error: unknown, requestId: string): Problem {
  const { code, extra } = error instanceof AppError ? error : { code: codeOf(error), extra: {} }
  return { type: `${PROBLEMS_PAGE}#${code}`, ...FAILURES[code], ...extra, code, requestId }
}

const codeOf = (error: unknown): FailureCode => (error instanceof Unavailable ? 'service-unavailable' : 'internal')
