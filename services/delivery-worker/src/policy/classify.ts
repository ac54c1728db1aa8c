import { isNativeError } from 'node:util/types'
import type { Outcome, UnreachableReason } from '@switchhook/contracts'
import { BLOCKED_ADDRESS } from '../http/lookup.ts'

/** Only 2xx acknowledges (specification, "Receiver obligations and semantics", 1 to 3). */
export const classifyStatus = (status: number): Outcome =>
  status < 300 ? { kind: 'delivered', status } : { kind: 'answered', status }

/**
 * Tells why no answer came. What this process has run out of, and errors that do not come from the network, are trouble of
 * our own and not the subscriber's: they are thrown on.
 */
export function classifyError(error: unknown): Outcome {
  const reason = reasonOf(codeOf(error))
  if (reason === undefined) throw error
  return { kind: 'unreachable', reason }
}

/** axios wraps what Node threw and keeps the code; a cause may know more. */
function codeOf(error: unknown): string | undefined {
  if (!isNativeError(error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return code ?? codeOf(error.cause)
}

/**
 * https://nodejs.org/api/errors.html#common-system-errors, https://nodejs.org/api/dns.html#error-codes, and getaddrinfo(3)
 * for the EAI_ ones, https://undici.nodejs.org/#/docs/api/Errors for the UND_ERR_ ones. Any other errno is `network`.
 */
const REASONS: Readonly<Record<string, UnreachableReason>> = {
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  EREFUSED: 'dns',
  EBADNAME: 'dns',
  EBADRESP: 'dns',
  EFORMERR: 'dns',
  ETIMEOUT: 'dns',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  ETIMEDOUT: 'timeout',
  EPROTO: 'tls',
  [BLOCKED_ADDRESS]: 'blocked',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_INVALID_ARG: 'unusable-url',
  UND_ERR_HEADERS_OVERFLOW: 'malformed',
  UND_ERR_SOCKET: 'reset',
}

/** Families of codes. The X.509 ones are OpenSSL's names of what is wrong with a certificate. */
const FAMILIES: readonly [RegExp, UnreachableReason][] = [
  [/^EAI_/, 'dns'],
  [/^HPE_/, 'malformed'],
  [/^UND_ERR_RES/, 'malformed'],
  [/^ERR_(TLS|SSL|OSSL)_/, 'tls'],
  [/^ERR_(SOCKET|STREAM)_/, 'reset'],
  [/CERT|CRL|CHAIN|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED/, 'tls'],
]

/** This process, not the network, lacks something. */
const OUR_SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])

function reasonOf(code: string | undefined): UnreachableReason | undefined {
  if (code === undefined || OUR_SHORTAGES.has(code)) return undefined
  const known = REASONS[code] ?? FAMILIES.find(([family]) => family.test(code))?.[1]
  // Operating systems know more codes than any list; what has an errno's name came from a socket.
  return known ?? (/^E[A-Z0-9]+$/.test(code) ? 'network' : undefined)
}
