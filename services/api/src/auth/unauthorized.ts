import { BEARER_CHALLENGE, HeaderedError } from '../http/problem-handler.ts'

/** No token, or one that does not count; the challenge is RFC 6750's, section 3. */
export class Unauthorized extends HeaderedError {
  /** @param reason why the token was refused; absent: there was none. */
  constructor(reason?: string) {
    const said = reason === undefined ? undefined : quotable(reason)
    const challenge = said === undefined ? '' : `, error="invalid_token", error_description="${said}"`
    super(
      'unauthorized',
      { 'WWW-Authenticate': `${BEARER_CHALLENGE}${challenge}` },
      said === undefined ? {} : { detail: said },
    )
  }
}

/** Reasons may quote the token's header, which anybody can write: only what fits into a quoted string gets through. */
const quotable = (reason: string): string =>
  reason
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x7e]|\\/g, '')
    .slice(0, 200)
