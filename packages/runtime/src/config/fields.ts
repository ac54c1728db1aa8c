import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { compileSchema } from '@switchhook/contracts'

/** How one environment variable is read. `parse` throws a FieldError that states what is expected, without the value. */
export interface Field<T> {
  readonly parse: (raw: string) => T
  /** The default, as written in the environment; undefined: the variable is required. */
  readonly fallback: string | undefined
  /** One or two sentences for the variable's row in docs/configuration.md. */
  readonly about?: string
  /** The default in words, if the fallback itself is long or says little. */
  readonly shownDefault?: string
}

/** Adds the field's text in the configuration reference. */
export const described = <T>(about: string, field: Field<T>, shownDefault?: string): Field<T> => ({
  ...field,
  about,
  ...(shownDefault !== undefined && { shownDefault }),
})

export class FieldError extends Error {
  override readonly name = 'FieldError'
}

const field = <T>(parse: (raw: string) => T, fallback?: string): Field<T> => ({ parse, fallback })

export const text = (fallback?: string): Field<string> => field((raw) => raw, fallback)

/** Byte order marks and line ends that editors, `echo` and Secrets add. `trim` removes a byte order mark too. */
function secretIn(raw: string): string {
  const secret = raw.trim()
  if (secret === '') throw new FieldError('must not be empty')
  if (/\p{Cc}/u.test(secret)) throw new FieldError('must be one line without control characters')
  return secret
}

/** A password or a user name. White space around it is not part of it. */
export const secret = (fallback?: string): Field<string> => field(secretIn, fallback)

/** The path of a file with a secret. */
export const secretFile = (): Field<string> => file(secretIn)

export const optional = <T>(inner: Field<T>): Field<T | undefined> =>
  field((raw) => (raw === '' ? undefined : inner.parse(raw)), '')

export const choice = <const T extends string>(values: readonly T[], fallback?: T): Field<T> =>
  field((raw) => {
    const found = values.find((value) => value === raw)
    if (found === undefined) throw new FieldError(`must be one of ${values.join(', ')}`)
    return found
  }, fallback)

/** Reads upper and lower case, as OpenTelemetry does: operators inject its settings. */
export const flag = (fallback?: boolean): Field<boolean> =>
  field((raw) => {
    const value = raw.toLowerCase()
    if (value !== 'true' && value !== 'false') throw new FieldError('must be true or false')
    return value === 'true'
  }, fallback?.toString())

export const integer = (range: { min: number; max: number }, fallback?: number): Field<number> =>
  field((raw) => {
    const value = Number(raw)
    if (!/^-?\d+$/.test(raw) || value < range.min || value > range.max) {
      throw new FieldError(`must be a whole number from ${range.min} to ${range.max}`)
    }
    return value
  }, fallback?.toString())

/** From 0 to 1. */
export const fraction = (fallback?: number): Field<number> =>
  field((raw) => {
    const value = Number(raw)
    if (!/^(\d+|\d*\.\d+)$/.test(raw) || value > 1) throw new FieldError('must be a number from 0 to 1')
    return value
  }, fallback?.toString())

/** A TCP port; 0 asks the operating system for a free one. */
export const port = (fallback?: number): Field<number> => integer({ min: 0, max: 65_535 }, fallback)

const isUrl = (raw: string, schemes: readonly string[]): boolean =>
  URL.canParse(raw) && schemes.includes(new URL(raw).protocol.slice(0, -1))

const beginnings = (schemes: readonly string[]): string => schemes.map((scheme) => `${scheme}://`).join(' or ')

export const url = (schemes: readonly string[], fallback?: string): Field<string> =>
  field((raw) => {
    if (!isUrl(raw, schemes)) throw new FieldError(`must be a URL that starts with ${beginnings(schemes)}`)
    return raw
  }, fallback)

export function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/**
 * Refuses a URL whose user or password a parser would read differently: an unencoded `/`, `?`, `#` or `%` ends the host too
 * early, or is no encoding, and parsers leave out line ends and tabs.
 * @param orElse what helps instead of encoding
 * @throws FieldError
 */
export function requireReadableLogin(url: string, orElse = ''): void {
  if (/\p{Cc}/u.test(url)) throw new FieldError('must be one line without control characters')
  const [, authority = '', rest = ''] = /^[^/]*\/\/([^/?#]*)(.*)$/s.exec(url) ?? []
  const login = authority.slice(0, Math.max(0, authority.lastIndexOf('@')))
  if (login.includes('@') || !isPercentEncoded(login) || /[@#]/.test(rest)) {
    throw new FieldError(`must have its user and password percent-encoded, such as %23 for #${orElse}`)
  }
  if (/\p{Cc}/u.test(decodeURIComponent(login))) {
    throw new FieldError('must be one line without control characters, also decoded')
  }
}

const OTHER_VARIABLES =
  '; or set them in the variables that end in _USERNAME and _PASSWORD or _PASSWORD_FILE, which need no encoding'

/**
 * `amqp://a,amqp://b`: one or more URLs; a URL with a scheme of `alone` must be the only one. Only a comma before another
 * URL separates, because passwords may contain commas.
 */
export const urls = (schemes: readonly string[], { alone = [] }: { alone?: readonly string[] } = {}) =>
  field<readonly string[]>((raw) => {
    const parts = raw.trim().split(/,\s*(?=[a-z+]+:\/\/)/)
    for (const part of parts) requireReadableLogin(part, OTHER_VARIABLES)
    // URL parsers treat a comma as part of the host, and take no host at all.
    if (!parts.every((part) => isUrl(part, schemes) && /^[^,]+$/.test(new URL(part).hostname))) {
      throw new FieldError(`must be URLs that start with ${beginnings(schemes)}, separated by commas`)
    }
    if (parts.length > 1 && parts.some((part) => isUrl(part, alone))) {
      throw new FieldError(`must be a single URL if it starts with ${beginnings(alone)}`)
    }
    return parts
  })

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The longest Node timer, 2^31 - 1 ms, rounded down to days. RabbitMQ's `x-message-ttl` allows twice that. */
const MAX_TIMER_MS = 24 * 86_400_000

/** `250ms`, `10s`, `5m`, `2h`, `7d`, read as milliseconds. */
export const duration = (fallback?: string, { minMs = 0, maxMs = MAX_TIMER_MS } = {}): Field<number> =>
  field((raw) => toMs(raw, minMs, maxMs), fallback)

/** `10s,1m,5m`, read as milliseconds; `none` is the empty list, because an empty variable means the default. */
export const durations = (fallback?: string): Field<readonly number[]> =>
  field((raw) => (raw === 'none' ? [] : raw.split(',').map((part) => toMs(part.trim(), 1, MAX_TIMER_MS))), fallback)

export interface Rate {
  readonly requests: number
  readonly windowMs: number
}

/** `600/1m`: requests per window, which is a whole number of seconds up to a day; `off` is null. */
export const rate = (fallback?: string): Field<Rate | null> =>
  field((raw) => {
    if (raw === 'off') return null
    const [, requests, window] = /^([1-9]\d{0,8})\/(\d+[smhd])$/.exec(raw) ?? []
    if (requests === undefined || window === undefined) throw new FieldError('must be off, or a rate such as 600/1m')
    return { requests: Number(requests), windowMs: toMs(window, 1_000, 86_400_000) }
  }, fallback)

function toMs(raw: string, minMs: number, maxMs: number): number {
  const [, amount, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(raw) ?? []
  const ms = Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN)
  if (Number.isNaN(ms)) throw new FieldError('must be a duration such as 250ms, 10s, 5m or 2h')
  if (ms < minMs || ms > maxMs) throw new FieldError(`must be from ${fromMs(minMs)} to ${fromMs(maxMs)}`)
  return ms
}

/** In the largest unit that is whole. */
function fromMs(ms: number): string {
  const [unit = 'ms', unitMs = 1] = Object.entries(UNIT_MS).findLast(([, each]) => ms >= each && ms % each === 0) ?? []
  return `${ms / unitMs}${unit}`
}

/** Parts separated by commas; an empty text has none. */
const listed = (isValid: (part: string) => boolean, rule: string, fallback?: string): Field<readonly string[]> =>
  field((raw) => {
    const parts = raw.split(',').flatMap((part) => part.trim() || [])
    if (!parts.every(isValid)) throw new FieldError(rule)
    return parts
  }, fallback)

/** Networks such as `10.0.0.0/8,fd00::/8`; a bare address is a network of one. */
export const networks = (fallback?: string): Field<readonly string[]> =>
  listed(isCidr, 'must be networks such as 10.0.0.0/8, separated by commas', fallback)

function isCidr(cidr: string): boolean {
  const [address = '', prefix, ...rest] = cidr.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128))
}

const isOrigin = (part: string): boolean =>
  !part.includes('*') && isUrl(part, ['http', 'https']) && new URL(part).origin === part

/** Origins of web pages, such as `https://app.example`, spelled as browsers send them. */
export const origins = (fallback?: string): Field<readonly string[]> =>
  listed(isOrigin, 'must be origins such as https://app.example, without a path, separated by commas', fallback)

/** Host names, without ports and wildcards. */
export const hostNames = (fallback?: string): Field<readonly string[]> =>
  listed(
    (host) => /^[\w-]+(\.[\w-]+)*\.?$/.test(host),
    'must be host names such as switchhook.example.com, without a port, separated by commas',
    fallback,
  )

export function json<T>(schema: object, fallback?: string): Field<T> {
  const validate = compileSchema<T>(schema)
  return field((raw) => {
    // The parser's own message quotes the value, which may contain a secret.
    const result = validate(orRefuse('must be JSON', () => JSON.parse(raw)))
    if (!result.ok)
      throw new FieldError(result.faults.map(({ pointer, detail }) => `${pointer || '/'} ${detail}`).join('; '))
    return result.value
  }, fallback)
}

/** The path of a file. @param parse throws a FieldError that says what the content must be */
export const file = <T>(parse: (content: string) => T): Field<T> =>
  field((raw) => {
    const content = orRefuse('must be the path of a file that can be read', () => readFileSync(raw, 'utf8'))
    try {
      return parse(content)
    } catch (error) {
      throw new FieldError(`must be the path of a file whose content ${(error as Error).message}`)
    }
  })

/** @throws FieldError with this message if the value cannot be read */
function orRefuse<T>(message: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new FieldError(message)
  }
}
