import { AppError, type FailureCode } from '@switchhook/contracts'

/** Only the realm, for a request without a token (RFC 6750, section 3). */
export const BEARER_CHALLENGE = 'Bearer realm="switchhook"'

export class HeaderedError extends AppError {
  readonly headers: Readonly<Record<string, string>>

  constructor(code: FailureCode, headers: Readonly<Record<string, string>>, extra?: AppError['extra']) {
    super(code, extra)
    this.headers = headers
  }
}

/** A temporary failure: the client can repeat its request after this time. */
export const retryAfter = (code: FailureCode, seconds: number, detail?: string): HeaderedError =>
  new HeaderedError(code, { 'Retry-After': String(seconds) }, detail === undefined ? {} : { detail })
