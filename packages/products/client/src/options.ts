import type { NoAnswer, SignInFailed, SwitchhookError } from './errors.ts'

/** Returns the access token, after a 401 another than the `rejected` one. Concurrent calls should share a request. */
export type Auth = (rejected?: string) => Promise<string>

/** A retry that is about to happen. */
export interface Retry {
  /** The method of the client, such as `calls.dial`. */
  readonly operation: string
  /** Tries so far. */
  readonly tries: number
  readonly waitMs: number
  readonly error: SwitchhookError | NoAnswer | SignInFailed
}

export interface ClientOptions {
  /** The address in front of `/api/v1`, for example `https://switchhook.example.com`. */
  readonly baseUrl: string | URL
  /** Absent: requests carry no token, as an on-premise installation allows for trusted networks. */
  readonly auth?: Auth
  readonly fetch?: typeof fetch
  /** Bounds each call, its retries included. Default: 30 s, and 10 s for `calls`: a late dial is worse than none. */
  readonly timeoutMs?: number
  /** Default: 3. */
  readonly maxRetries?: number
  /** For logs and metrics. */
  readonly onRetry?: (retry: Retry) => void
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Bounds this call, its retries included. */
  readonly timeoutMs?: number
  /** Default: a random one for each call, the same over its retries. */
  readonly idempotencyKey?: string
  /** The `ETag` that a change or deletion is based on. If the resource has changed since, it is refused. */
  readonly ifMatch?: string
  /** Shows the status and the headers of the answer, for example its `ETag`. */
  readonly onAnswer?: (answer: Pick<Response, 'status' | 'headers'>) => void
}

/** One page of a list. It can be empty and still have a next page. */
export interface Page<T = unknown> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

/** A list: iterate over all its items, or read one page. */
export interface Pages<P extends Page> extends AsyncIterable<P['items'][number]> {
  /** The page at the `cursor` of the query; the first without one. */
  page(): Promise<P>
}
