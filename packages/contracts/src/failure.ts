import type { Fault } from './validator.ts'

/**
 * Every error that a client can get, in one table: the API answers from it, the API document lists it, the tests count
 * it. `status` is the HTTP status unless the failure says otherwise (`missing-agent-uri` has two).
 */
export const FAILURES = {
  'invalid-request': { status: 400, title: 'The request does not match its schema' },
  'malformed-json': { status: 400, title: 'The body is not JSON in UTF-8' },
  'invalid-webhook-url': { status: 400, title: 'The url is missing, or webhooks cannot be sent to it' },
  'unknown-event-type': { status: 400, title: 'An event type is unknown or missing' },
  'unknown-status-code': { status: 400, title: 'The user status code is missing, or not one of this installation' },
  'missing-agent-uri': { status: 400, title: 'The command does not name an agent' },
  unauthorized: { status: 401, title: 'A valid access token is required' },
  'not-found': { status: 404, title: 'No such resource' },
  'subscription-not-found': { status: 404, title: 'No such subscription' },
  'delivery-not-found': { status: 404, title: 'No such delivery, or it is no longer remembered' },
  'event-not-found': { status: 404, title: 'No such event, or it is no longer remembered' },
  'recovery-not-found': { status: 404, title: 'No such recovery, or it is no longer remembered' },
  'agent-not-found': { status: 404, title: 'No such agent' },
  'call-not-found': { status: 404, title: 'No such call, or the agent has no leg in it' },
  'method-not-allowed': { status: 405, title: 'The resource does not know this method' },
  'invalid-call-state': { status: 409, title: 'Not possible in the current state of the call' },
  'transfer-in-progress': { status: 409, title: 'The call is being transferred to another target' },
  'agent-device-unavailable': { status: 409, title: "The agent's device cannot take a call now" },
  'delivery-not-parked': { status: 409, title: 'Only a parked delivery can be sent again' },
  'delivery-without-body': {
    status: 409,
    title: 'The body of this delivery is no longer kept, so it cannot be sent again: too many deliveries were parked',
  },
  'subscription-disabled': { status: 409, title: 'The subscription is disabled' },
  'subscription-deleted': { status: 409, title: 'The subscription of this delivery was deleted' },
  'too-many-secrets': { status: 409, title: 'As many former secrets as can be still sign' },
  'check-running': { status: 409, title: 'The endpoint of this subscription is being checked already' },
  'secret-unavailable': {
    status: 409,
    title: 'The secret of this subscription cannot be opened: ask the operator for its key, or rotate it',
  },
  'recovery-in-progress': { status: 409, title: 'Another recovery of this subscription is still running' },
  'idempotency-key-in-use': { status: 409, title: 'The first request with this Idempotency-Key is not answered yet' },
  'body-too-large': { status: 413, title: 'The body is larger than 64 KiB' },
  'unsupported-media-type': { status: 415, title: 'The body must be application/json' },
  'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key was used for another request' },
  'rate-limited': { status: 429, title: 'Too many requests; try again later' },
  'too-many-checks': { status: 429, title: 'As many endpoints as can be at a time are being checked; try again later' },
  internal: { status: 500, title: 'Internal error' },
  'platform-unavailable': { status: 503, title: 'The contact center cannot be reached; nothing was sent to it' },
  'check-unfinished': { status: 503, title: 'No delivery worker has finished the check in time; try again' },
  'service-unavailable': { status: 503, title: 'A part of the service cannot be reached; try again' },
} as const satisfies Record<string, { status: number; title: string }>

export type FailureCode = keyof typeof FAILURES

/** What a failure may tell beside its code; all of it is shown to the client. */
export interface FailureExtra {
  readonly detail?: string
  readonly errors?: readonly Fault[]
  readonly status?: number
  readonly knownEventTypes?: readonly string[]
  readonly knownStatusCodes?: readonly { readonly code: number; readonly name: string }[]
  readonly currentState?: number
  readonly allowedCommands?: readonly string[]
}

/** The one error that is meant for a client. Anything else that is thrown becomes `internal` and tells nothing. */
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

/** Something that we depend on cannot be reached: nothing was promised, and trying again later may work. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  readonly dependency: 'redis' | 'rabbitmq'

  constructor(dependency: 'redis' | 'rabbitmq', message: string, options?: ErrorOptions) {
    super(message, options)
    this.dependency = dependency
  }
}
