import { type Failure, reasonOf, SignInFailed } from './errors.ts'
import { mediaTypeOf, parsed } from './fetch-answer.ts'
import type { Auth } from './options.ts'
import { backoffMs, retryAfterMs } from './retry.ts'

export interface ClientCredentials {
  /** For example `https://login.microsoftonline.com/<tenant>/oauth2/v2.0/token`. */
  readonly tokenUrl: string | URL
  readonly clientId: string
  readonly clientSecret: string
  /** For example `<service application id>/.default`. */
  readonly scope: string
  readonly fetch?: typeof fetch
}

interface Token {
  readonly value: string
  readonly expiresAtMs: number
  renewAtMs: number
}

/** A token is renewed between one and two minutes before its end, so that many clients do not ask at the same time. */
const AHEAD_MS = 60_000
/** While the provider fails, the old token serves, and the next renewal waits this long. */
const RENEW_AGAIN_MS = 10_000
const TIMEOUT_MS = 10_000
/** A timer of a caller may end this much before the shared wait does. */
const EARLY_MS = 10
/** Lifetime of a token whose answer does not tell it (RFC 6749 recommends that it does). */
const DEFAULT_LIFETIME_SECONDS = 300

/** The OAuth 2.0 client credentials flow. Share one between clients: identity providers throttle their token endpoints. */
export function clientCredentials({ fetch: given, ...credentials }: ClientCredentials): Auth {
  let token: Token | undefined
  let renewing: Promise<Token>
  let failures = 0
  /** No request begins before: one is under way, or its failure asks for a pause. Monotonic, in ms. */
  let pausedUntilMs = 0

  async function request(): Promise<Token> {
    pausedUntilMs = Infinity
    try {
      token = await requestToken(credentials, given ?? fetch)
      failures = pausedUntilMs = 0
      return token
    } catch (error) {
      const waitMs = (error as Failure).retryAfterMs ?? backoffMs(failures++, Math.random())
      pausedUntilMs = performance.now() + waitMs
      throw error
    }
  }

  /** One request for all callers, who also share its failure until the pause ends. */
  const renew = async (): Promise<string> => {
    if (performance.now() + EARLY_MS >= pausedUntilMs) renewing = request()
    try {
      return (await renewing).value
    } catch (error) {
      const { message, cause, status } = error as Failure
      // Each caller adds the facts of its own call to its error.
      throw new SignInFailed(message, { cause, status, retryAfterMs: Math.max(0, pausedUntilMs - performance.now()) })
    }
  }

  return async (rejected) => {
    const nowMs = Date.now()
    if (!token || token.value === rejected || nowMs >= token.expiresAtMs) return renew()
    if (nowMs >= token.renewAtMs) {
      token.renewAtMs = nowMs + RENEW_AGAIN_MS
      // The present token is still valid.
      renew().catch(() => undefined)
    }
    return token.value
  }
}

async function requestToken(
  { tokenUrl, clientId, clientSecret, scope }: Omit<ClientCredentials, 'fetch'>,
  send: typeof fetch,
): Promise<Token> {
  let response: Response
  let text: string
  try {
    response = await send(tokenUrl, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        scope,
      }),
      // oxlint-disable-next-line no-restricted-properties -- the client runs in browsers, without packages/runtime
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    text = await response.text()
  } catch (cause) {
    throw new SignInFailed(`${String(tokenUrl)} did not answer (${reasonOf(cause)}). Check tokenUrl.`, { cause })
  }
  const answer = (parsed(text) ?? {}) as Readonly<Record<string, unknown>>
  const { access_token: value, expires_in: seconds, error, error_description: description } = answer
  if (response.ok && typeof value === 'string' && value) {
    const lifetimeMs = (Number(seconds) || DEFAULT_LIFETIME_SECONDS) * 1_000
    const aheadMs = Math.min(AHEAD_MS * (1 + Math.random()), lifetimeMs / 2)
    const expiresAtMs = Date.now() + lifetimeMs
    return { value, expiresAtMs, renewAtMs: expiresAtMs - aheadMs }
  }
  const { status } = response
  const refusal = [error, description].filter((one) => typeof one === 'string' && one).join(': ')
  throw new SignInFailed(
    refusal
      ? `Sign-in was refused: ${refusal}. Check clientId, clientSecret and scope.`
      : `${String(tokenUrl)} answered ${status} (${mediaTypeOf(response)}) without a token. Check tokenUrl.`,
    { status, retryAfterMs: retryAfterMs(response.headers.get('retry-after')) },
  )
}
