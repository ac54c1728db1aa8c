import type { Outcome, UnreachableReason } from '@switchhook/contracts'

/** Only 2xx acknowledges. A status below 200 is no answer to a POST (101 would switch protocols). */
export function classifyStatus(status: number): Outcome {
  if (status < 200) return { kind: 'unreachable', reason: 'malformed' }
  return status < 300 ? { kind: 'delivered', status } : { kind: 'answered', status }
}

/**
 * Tells why no answer came. An error that does not come from the network, or that says that this process has run out of
 * something, is our own trouble and not the subscriber's: it is thrown on.
 */
export function classifyError(error: unknown, deadlinePassed: boolean): Outcome {
  if (deadlinePassed) return { kind: 'unreachable', reason: 'timeout' }
  const reason = reasonOf(codeOf(error))
  if (reason === undefined) throw error
  return { kind: 'unreachable', reason }
}

/** axios wraps what Node threw and keeps the code; a cause may know more. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return code ?? codeOf(error.cause)
}

/** https://nodejs.org/api/errors.html#common-system-errors, and getaddrinfo(3) for the EAI_ ones. */
const REASONS: Readonly<Record<string, UnreachableReason>> = {
  ENOTFOUND: 'dns',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  ERR_STREAM_PREMATURE_CLOSE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'network',
  EHOSTDOWN: 'network',
  ENETUNREACH: 'network',
  ENETDOWN: 'network',
  ENETRESET: 'network',
  EADDRNOTAVAIL: 'network',
  EACCES: 'network',
  EPERM: 'network',
  EINVAL: 'network',
  EPROTO: 'tls',
  ERR_UNESCAPED_CHARACTERS: 'unusable-url',
  ERR_INVALID_CHAR: 'unusable-url',
}

/** Families of codes. The X.509 ones are OpenSSL's names of what is wrong with a certificate. */
const FAMILIES: readonly [RegExp, UnreachableReason][] = [
  [/^EAI_/, 'dns'],
  [/^HPE_/, 'malformed'],
  [/^ERR_(TLS|SSL)_/, 'tls'],
  [/CERT|CRL|CHAIN|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED/, 'tls'],
]

function reasonOf(code: string | undefined): UnreachableReason | undefined {
  if (code === undefined) return undefined
  return REASONS[code] ?? FAMILIES.find(([family]) => family.test(code))?.[1]
}
