import type { Fault } from './validator.ts'

/**
 * Every error code of the API, in one table: answers, the API document and the tests read it. `status` is the HTTP status
 * unless an error overrides it (`missing-agent-uri` is 401 on dial and transfer).
 */
export const FAILURES = {
  'invalid-request': { status: 400, title: 'The request is invalid' },
  'malformed-json': { status: 400, title: 'The body is not valid JSON in UTF-8' },
  'invalid-webhook-url': { status: 400, title: 'The url is missing, or webhooks cannot be sent to it' },
  'unknown-event-type': { status: 400, title: 'An event type is unknown or missing' },
  'unknown-status-code': { status: 400, title: 'The user status code is missing or unknown' },
  'missing-agent-uri': { status: 400, title: 'The field agentUri is required' },
  unauthorized: { status: 401, title: 'A valid access token is required' },
  'not-found': { status: 404, title: 'No such resource' },
  'subscription-not-found': { status: 404, title: 'No such subscription' },
  'delivery-not-found': { status: 404, title: 'No such delivery, or its record has expired' },
  'event-not-found': { status: 404, title: 'No such event, or its record has expired' },
  'recovery-not-found': { status: 404, title: 'No such recovery, or its record has expired' },
  'agent-not-found': { status: 404, title: 'No such agent' },
  'call-not-found': { status: 404, title: 'No such call, or the agent has no leg in it' },
  'method-not-allowed': { status: 405, title: 'This resource does not support the method' },
  'invalid-call-state': { status: 409, title: 'The command is not possible in the current state of the call' },
  'transfer-in-progress': { status: 409, title: 'The call is being transferred to another target' },
  'agent-device-unavailable': { status: 409, title: "The agent's device cannot take a call now" },
  'delivery-not-parked': { status: 409, title: 'Only a parked delivery can be sent again' },
  'delivery-without-body': {
    status: 409,
    title: 'The body of this delivery is no longer kept, so it cannot be sent again: too many deliveries were parked',
  },
  'subscription-disabled': { status: 409, title: 'The subscription is disabled' },
  'subscription-deleted': { status: 409, title: 'The subscription of this delivery was deleted' },
  'too-many-secrets': { status: 409, title: 'Too many previous secrets are still active; wait for one to expire' },
  'check-running': { status: 409, title: 'A check of this endpoint is already running' },
  'secret-unavailable': {
    status: 409,
    title: 'The signing secret cannot be decrypted: ask the operator for its key, or rotate the secret',
  },
  'recovery-in-progress': { status: 409, title: 'Another recovery of this subscription is running' },
  'idempotency-key-in-use': {
    status: 409,
    title: 'The first request with this Idempotency-Key is still being processed',
  },
  'body-too-large': { status: 413, title: 'The body is larger than 64 KiB' },
  'unsupported-media-type': { status: 415, title: 'The body must be application/json' },
  'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key was used with a different request' },
  'rate-limited': { status: 429, title: 'Too many requests; retry later' },
  'too-many-checks': { status: 429, title: 'Too many endpoint checks are running; retry in a few seconds' },
  internal: { status: 500, title: 'Internal error' },
  'platform-unavailable': { status: 503, title: 'The contact center cannot be reached; the command was not sent' },
  'check-unfinished': { status: 503, title: 'The check did not finish in time; retry' },
  'service-unavailable': { status: 503, title: 'The service is temporarily unavailable; retry' },
} as const satisfies Record<string, { status: number; title: string }>

export type FailureCode = keyof typeof FAILURES

/** Further fields of an error; the client sees all of them. */
export interface FailureExtra {
  readonly detail?: string
  readonly errors?: readonly Fault[]
  readonly status?: number
  readonly knownEventTypes?: readonly string[]
  readonly knownStatusCodes?: readonly { readonly code: number; readonly name: string }[]
  readonly currentState?: number
  readonly allowedCommands?: readonly string[]
}

/** The only error that clients see. Any other error becomes `internal`, without details. */
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

/** Whether the operation that failed may have been executed all the same. */
export type Fate = 'not-executed' | 'unknown'

/** Redis or RabbitMQ cannot serve now. Trying again later may work. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
  readonly dependency: 'redis' | 'rabbitmq'
  /**
   * Of the one command or publish that failed. `not-executed`: it was refused, or not sent. `unknown`: its answer is
   * missing. An operation of several commands may have executed the others.
   */
  readonly fate: Fate

  constructor(
    dependency: 'redis' | 'rabbitmq',
    message: string,
    { fate = 'unknown', ...options }: ErrorOptions & { readonly fate?: Fate } = {},
  ) {
    super(message, options)
    this.dependency = dependency
    this.fate = fate
  }
}

/** Whether an error says that the operation has certainly not been executed. */
export const isNotExecuted = (error: unknown): boolean => error instanceof Unavailable && error.fate === 'not-executed'
