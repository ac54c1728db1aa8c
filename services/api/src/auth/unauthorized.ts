import { BEARER_CHALLENGE, HeaderedError } from '../http/problem-handler.ts'

/** A missing or invalid token, with the challenge of RFC 6750, section 3. */
export class Unauthorized extends HeaderedError {
  /** @param reason why the token is invalid; absent: there is no token */
  constructor(reason?: string) {
    const detail = reason === undefined ? undefined : quotable(reason)
    const challenge = detail === undefined ? '' : `, error="invalid_token", error_description="${detail}"`
    super(
      'unauthorized',
      { 'WWW-Authenticate': `${BEARER_CHALLENGE}${challenge}` },
      detail === undefined ? {} : { detail },
    )
  }
}

/** A reason may quote the token's header, which is untrusted: keeps only characters that a quoted string allows. */
const quotable = (reason: string): string =>
  reason
    .replaceAll('"', "'")
    .replaceAll(/[^\x20-\x7e]|\\/g, '')
    .slice(0, 200)
