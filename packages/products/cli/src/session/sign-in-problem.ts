import { SignInFailed } from '@switchhook/client'

/** A failure of openid-client, as far as people need it. */
interface OauthFailure {
  readonly name: string
  readonly code?: string
  readonly status?: number
  /** The OAuth error, such as `invalid_client`. */
  readonly error?: string
  readonly error_description?: string
  readonly cause?: unknown
}

const ADVICE: Readonly<Record<string, string>> = {
  invalid_client:
    'The client id or the secret is wrong, or the secret has expired: create a secret at the identity provider, and sign in again with --secret-stdin.',
  unauthorized_client:
    'Allow this client the flow at the identity provider, or use another sign-in of "switchhook login".',
  invalid_grant: 'The sign-in has expired: sign in again with "switchhook login".',
  invalid_scope: 'Check the scope (--scope), and what the client may request at the identity provider.',
  access_denied: 'The sign-in was refused at the identity provider.',
  expired_token: 'The code has expired: run "switchhook login --device" again.',
}

const answerOf = ({ cause }: OauthFailure): Response | undefined => (cause instanceof Response ? cause : undefined)

const isUnanswered = ({ name, code }: OauthFailure): boolean => name === 'TypeError' || code === 'OAUTH_TIMEOUT'

/** Whether a request failed without a refusal: the provider did not answer, or answered that it cannot now. */
export function isInTrouble(error: unknown): boolean {
  const failure = error as OauthFailure
  return isUnanswered(failure) || (failure.status ?? answerOf(failure)?.status ?? 0) >= 500
}

/** What a failed sign-in means. @param address the identity provider */
export function signInProblem(error: unknown, address: string): SignInFailed {
  const failure = error as OauthFailure
  const { code, status, error: oauth, error_description: described } = failure
  const answer = answerOf(failure)
  const failed = (text: string): SignInFailed =>
    new SignInFailed(text, { status: status ?? answer?.status, cause: error })
  if (oauth !== undefined) {
    const what = `The identity provider refused: ${oauth}${described ? ` (${described})` : ''}.`
    return failed(`${what} ${ADVICE[oauth] ?? 'Check the client and the scope.'}`)
  }
  switch (code) {
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
    case 'OAUTH_PARSE_ERROR':
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM': {
      const seen = answer ? ` ${answer.status} (${answer.headers.get('content-type') ?? 'no content type'})` : ''
      return failed(
        `${address} answered${seen} without a token. It is not a token endpoint or issuer: check the address (--token-url).`,
      )
    }
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
      return failed(
        'The identity provider’s token is not valid now. The clock of this machine is wrong: set it by NTP.',
      )
    case 'OAUTH_HTTP_REQUEST_FORBIDDEN':
      return failed(`${address} is not https, but the installation is: ask its operator to correct AUTH_ISSUERS.`)
    case 'OAUTH_MISSING_SERVER_METADATA':
      return failed('The identity provider does not offer this sign-in: use another one of "switchhook login".')
    default:
      return isUnanswered(failure)
        ? failed(`${address} did not answer (${reasonOf(error)}). Check the address and the network.`)
        : failed(`The sign-in failed: ${reasonOf(error)} (${address}).`)
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { message?: string; code?: string }; message: string }
  return cause?.message || cause?.code || message
}
