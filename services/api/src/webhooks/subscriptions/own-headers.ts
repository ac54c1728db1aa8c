import { AppError, escapeToken, type Fault, type Subscription } from '@switchhook/contracts'
import { subscriptionHeader, type Vault, VaultError } from '@switchhook/signing'

/** Stands for a stored value: reading shows it, and a request with it keeps the value. */
const KEPT = '***'

/** What a request changes: `url`, if it moves the subscription. */
export interface HeadersRequest {
  /** As clients send them. `KEPT`: keep the stored value; null: remove it. */
  readonly headers?: Readonly<Record<string, string | null>> | null
  readonly url?: string | null | undefined
}

/** The subscription before a change; a new one has no `url` yet. */
export type HeadersOwner = Pick<Subscription, 'tenant' | 'id' | 'headers'> & Partial<Pick<Subscription, 'url'>>

const MAX_HEADERS = 20
const MAX_NAME_LENGTH = 64
const MAX_VALUE_LENGTH = 1024
/** Of all names and values. Many servers refuse heads of more than 8 KB. */
const MAX_TOTAL_LENGTH = 4096

const TEXT =
  'Headers of your own for every POST, such as an API key. Names are case-insensitive and shown in lower case. Values are encrypted and never shown: ' +
  'reading shows `***` in place of each value.'

export const shownHeadersSchema = {
  type: ['object', 'null'],
  description: TEXT,
  additionalProperties: { type: 'string' },
  examples: [{ authorization: KEPT }],
} as const

export const wantedHeadersSchema = {
  type: ['object', 'null'],
  description:
    `${TEXT} \`PATCH\` merges by name: a text sets a value, \`${KEPT}\` keeps it, null removes it; \`headers: null\` removes all. At most ${MAX_HEADERS}, names up to ` +
    `${MAX_NAME_LENGTH} characters, values up to ${MAX_VALUE_LENGTH} of visible ASCII, ${MAX_TOTAL_LENGTH} together. Refused are hop-by-hop headers, \`Host\`, \`Expect\`, ` +
    '`Accept`, `Accept-Encoding`, `User-Agent`, `Content-*`, `X-SVC-*`, `webhook-*`, `traceparent` and `tracestate`. If `url` moves to another origin, name each ' +
    'header again, so that none reaches another host by mistake. Use it once all services are new.',
  maxProperties: MAX_HEADERS,
  additionalProperties: { type: ['string', 'null'], maxLength: MAX_VALUE_LENGTH },
  examples: [{ Authorization: 'Bearer 3fQ9' }],
} as const

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const VALUE = /^[!-~]([\t -~]*[!-~])?$/
/** Set by Switchhook, by the connection (RFC 9110, section 7.6.1), or meant for it. */
const RESERVED =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|expect|accept|accept-encoding|user-agent|content-.*|x-svc-.*|webhook-.*|traceparent|tracestate)$/

/** The faults that the schema cannot express. They never quote a value. */
export function headerFaults(headers: unknown): Fault[] {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return []
  const seen = new Set<string>()
  return Object.entries(headers).flatMap(([sent, value]) => {
    const name = sent.toLowerCase()
    const detail = nameFault(name) ?? valueFault(value) ?? (seen.has(name) ? 'is named twice' : undefined)
    seen.add(name)
    return detail === undefined ? [] : [{ pointer: pointerTo(sent), detail }]
  })
}

function nameFault(name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `must have a name of at most ${MAX_NAME_LENGTH} characters`
  if (!TOKEN.test(name)) return 'is not a name of an HTTP header'
  // CGI and WSGI show a receiver `_` and `-` as the same; some servers (lighttpd) each other sign, too.
  return RESERVED.test(name.replaceAll(/[^a-z0-9]/g, '-'))
    ? 'cannot be set, because Switchhook or the connection sets it'
    : undefined
}

function valueFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || VALUE.test(value)) return undefined
  return 'must be visible ASCII, without line breaks and without spaces at its ends'
}

const pointerTo = (name: string): string => `/headers/${escapeToken(name)}`

export const shownHeaders = ({ headers }: Pick<Subscription, 'headers'>): Readonly<Record<string, string>> | null =>
  headers === undefined ? null : Object.fromEntries(Object.keys(headers).map((name) => [name, KEPT]))

/**
 * The stored headers after a request: names in lower case, values sealed. A value that is stored already stays as it is
 * sealed, so a repeat changes nothing.
 * @throws AppError `invalid-request`
 */
export function mergedHeaders(
  vault: Vault,
  owner: HeadersOwner,
  { headers: wanted, url }: HeadersRequest,
): Subscription['headers'] {
  const contextOf = (name: string) => subscriptionHeader(owner.tenant, owner.id, name)
  // A map, because a header may be called `constructor`.
  const stored = new Map(Object.entries(owner.headers ?? {}))
  const asked = new Map(Object.entries(wanted ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  const isMoved = url != null && owner.url !== undefined && new URL(url).origin !== new URL(owner.url).origin
  if (wanted !== null && isMoved) {
    refuse(
      [...stored.keys()].filter((name) => !asked.has(name)),
      'must be named again, because url moves to another origin: a new value, *** to send it there, or null',
    )
  }
  const missing = [...asked].flatMap(([name, value]) => (value === KEPT && !stored.has(name) ? [name] : []))
  refuse(missing, 'has no value to keep')
  const opened = (name: string, sealed = ''): string | undefined => {
    try {
      return vault.open(sealed, contextOf(name))
    } catch (error) {
      // A new value replaces one whose key is gone.
      if (error instanceof VaultError) return undefined
      throw error
    }
  }
  const merged = new Map(wanted === null ? [] : stored)
  for (const [name, value] of asked) {
    if (value === null) merged.delete(name)
    else if (value !== KEPT && opened(name, stored.get(name)) !== value)
      merged.set(name, vault.seal(value, contextOf(name)))
  }
  const lengths = [...merged].map(([name, sealed]) => name.length + (opened(name, sealed) ?? '').length)
  const length = lengths.reduce((sum, each) => sum + each, 0)
  if (merged.size > MAX_HEADERS || length > MAX_TOTAL_LENGTH) {
    const detail = `must be at most ${MAX_HEADERS} headers of ${MAX_TOTAL_LENGTH} characters together`
    throw invalid([{ pointer: '/headers', detail }])
  }
  return merged.size === 0 ? undefined : Object.fromEntries(merged)
}

function refuse(names: readonly string[], detail: string): void {
  if (names.length > 0) throw invalid(names.map((name) => ({ pointer: pointerTo(name), detail })))
}

const invalid = (errors: readonly Fault[]): AppError =>
  new AppError('invalid-request', { detail: 'The headers are not valid.', errors })
