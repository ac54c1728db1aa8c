import { isNativeError } from 'node:util/types'
import { type Attempt, MAX_DETAIL, type Outcome, Unavailable, type UnreachableReason } from '@switchhook/contracts'
import { NO_NAME_SERVER } from '@switchhook/egress'
import { codedError } from '@switchhook/runtime'

export const BLOCKED_ADDRESS = 'ERR_BLOCKED_ADDRESS'

export const PROXY_FAILED = 'ERR_EGRESS_PROXY'

/** Of a connection: all local ports to its address are in use. */
export const NO_LOCAL_PORT = 'ERR_NO_LOCAL_PORT'

/** Only 2xx acknowledges (specification, "Receiver obligations and semantics", 1 to 3). */
export const classifyStatus = (status: number): Outcome =>
  status < 300 ? { kind: 'delivered', status } : { kind: 'answered', status }

/** An outcome as the record of an attempt stores it. */
export function resultOf(outcome: Outcome): Pick<Attempt, 'outcome' | 'status' | 'detail'> {
  const result =
    outcome.kind === 'unreachable'
      ? { outcome: outcome.reason, status: null }
      : { outcome: outcome.kind, status: outcome.status }
  return outcome.detail === undefined ? result : { ...result, detail: outcome.detail.slice(0, MAX_DETAIL) }
}

/**
 * Classifies the error of an attempt that got no answer.
 * @throws Unavailable if this process has run out of something: the message waits until that is over
 * @throws the error itself if it does not come from the network: it is our own failure and not the subscriber's
 */
export function classifyError(error: unknown): Outcome {
  if (isOurShortage(error)) {
    throw new Unavailable('process', 'this process has run out of sockets, ports or memory', { cause: error })
  }
  const reason = reasonOf(codeOf(error))
  if (reason === undefined) throw error
  const detail = detailOf(error) ?? alertOf(codeOf(error))
  return { kind: 'unreachable', reason, ...(detail !== undefined && { detail }) }
}

/** An error whose code decides how the attempt is classified, and whose message the subscriber may read as its detail. */
export const explainedError = (code: string, detail: string, cause?: unknown): Error & { readonly code: string } =>
  Object.assign(codedError(code, detail, cause), { detail })

function detailOf(error: unknown): string | undefined {
  if (!isNativeError(error)) return undefined
  return 'detail' in error && typeof error.detail === 'string' ? error.detail : detailOf(error.cause)
}

/** OpenSSL's names of the alerts that the other side sent: `ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED`. */
const ALERT = /^ERR_SSL_(?:SSLV3|TLSV1|TLSV13|SSL\/TLS)_(?:ALERT_)?([A-Z_]+)$/

function alertOf(code: string | undefined): string | undefined {
  const [, name] = ALERT.exec(code ?? '') ?? []
  return name && `the endpoint sent the TLS alert "${name.toLowerCase().replaceAll('_', ' ')}"`
}

/** axios wraps Node's error and keeps its code. If an error has no code, its cause may have one. */
export function codeOf(error: unknown): string | undefined {
  if (!isNativeError(error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return code ?? codeOf(error.cause)
}

/**
 * Sources: https://nodejs.org/api/errors.html#common-system-errors, https://nodejs.org/api/dns.html#error-codes,
 * getaddrinfo(3) for EAI_, https://undici.nodejs.org/#/docs/api/Errors for UND_ERR_. Any other errno is `network`.
 */
const REASONS: Readonly<Record<string, UnreachableReason>> = {
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  EREFUSED: 'dns',
  EBADNAME: 'dns',
  EBADRESP: 'dns',
  EFORMERR: 'dns',
  ENOTIMP: 'dns',
  ETIMEOUT: 'dns',
  [NO_NAME_SERVER]: 'dns',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  ETIMEDOUT: 'timeout',
  EPROTO: 'tls',
  [BLOCKED_ADDRESS]: 'blocked',
  [PROXY_FAILED]: 'proxy',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_INVALID_ARG: 'unusable-url',
  UND_ERR_HEADERS_OVERFLOW: 'malformed',
  UND_ERR_SOCKET: 'reset',
}

/** Families of codes. The last line has OpenSSL's names of certificate errors. */
const FAMILIES: readonly [RegExp, UnreachableReason][] = [
  [/^EAI_/, 'dns'],
  [/^HPE_/, 'malformed'],
  [/^UND_ERR_RES/, 'malformed'],
  [/^ERR_(TLS|SSL|OSSL)_/, 'tls'],
  [/^ERR_(SOCKET|STREAM)_/, 'reset'],
  [/CERT|CRL|CHAIN|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED/, 'tls'],
]

/** This process, not the network, has run out of something. EBUSY: the system's look-up (glibc) could open no file. */
const OUR_SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EBUSY', NO_LOCAL_PORT])

export const isOurShortage = (error: unknown): boolean => OUR_SHORTAGES.has(codeOf(error) ?? '')

function reasonOf(code: string | undefined): UnreachableReason | undefined {
  if (code === undefined) return undefined
  const known = REASONS[code] ?? FAMILIES.find(([family]) => family.test(code))?.[1]
  // No list of errno names is complete. A code with an errno's name comes from a socket.
  return known ?? (/^E[A-Z0-9]+$/.test(code) ? 'network' : undefined)
}

/** A longer time is cut: a mistake in the header must not stop deliveries for hours. */
export const MAX_RETRY_AFTER_MS = 15 * 60_000

/** A header that occurs several times is a list. */
export type Header = string | readonly string[] | undefined

/** White space around a value is no part of it (RFC 9110, section 5.5); undici leaves it. */
const firstOf = (header: Header): string | undefined => (typeof header === 'string' ? header : header?.[0])?.trim()

/**
 * How long an endpoint asks not to be contacted: `Retry-After` of a 429 or 503, in seconds or as a date (RFC 9110, section
 * 10.2.3). A date counts from the answer's own `Date`, because the clock of the endpoint may be wrong. Undefined: it does
 * not ask, or the header has neither form.
 */
export function retryAfterMsOf(
  status: number,
  headers: { readonly 'retry-after'?: Header; readonly date?: Header },
  nowMs: number,
): number | undefined {
  const retryAfter = firstOf(headers['retry-after'])
  if ((status !== 429 && status !== 503) || retryAfter === undefined) return undefined
  const sentAtMs = dateMs(firstOf(headers.date)) ?? nowMs
  const retryAfterMs = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1_000
    : (dateMs(retryAfter) ?? sentAtMs) - sentAtMs
  return retryAfterMs > 0 ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : undefined
}

/** RFC 9110, section 5.6.7: two forms end with GMT, and that of asctime means it. `Date.parse` alone takes `1.5` for a month. */
function dateMs(text: string | undefined): number | undefined {
  const zoned = text !== undefined && ASCTIME.test(text) ? `${text} GMT` : text
  const ms = zoned?.endsWith(' GMT') === true ? Date.parse(zoned) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/
