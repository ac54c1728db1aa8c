import { CallState, Direction } from '@switchhook/client'

/** Texts for people: times, durations, counts, and the names of numeric codes. Everything follows the browser's language. */

const TO_THE_MINUTE = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const clockFormat = new Intl.DateTimeFormat(undefined, { ...TO_THE_MINUTE, second: '2-digit' })
const dayFormat = new Intl.DateTimeFormat(undefined, { day: '2-digit', month: 'short' })
const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const axisFormat = new Intl.DateTimeFormat(undefined, TO_THE_MINUTE)
const numberFormat = new Intl.NumberFormat()

/** `14:02:11` today, with the day otherwise. */
export function clock(iso: string, nowMs: number): string {
  const at = new Date(iso)
  const isToday = at.toDateString() === new Date(nowMs).toDateString()
  return isToday ? clockFormat.format(at) : `${dayFormat.format(at)} ${clockFormat.format(at)}`
}

/** A moment on the axis of a plot: `14:02`, or the day if the plot spans more than two days. */
export const axisMoment = (atMs: number, spanMs: number): string =>
  spanMs > 2 * 86_400_000 ? dayFormat.format(atMs) : axisFormat.format(atMs)

export const fullMoment = (iso: string): string => fullFormat.format(new Date(iso))

export const count = (n: number): string => numberFormat.format(n)

/** `1 delivery`, `1,204 deliveries`. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`

export const deliveries = (n: number): string => counted(n, 'delivery', 'deliveries')

/** `42 ms`, `1.2 s`, `5 min`, `2 h 5 min`, `3 d`. */
export function duration(ms: number): string {
  if (ms < 0) return duration(0)
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d`
}

/** `12 s ago`, or `in 5 min`. */
export function relative(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso)
  if (Math.abs(ms) < 1_000) return 'now'
  const whole = Math.floor(Math.abs(ms) / 1_000) * 1_000
  return ms > 0 ? `${duration(whole)} ago` : `in ${duration(whole)}`
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const pad = (n: number): string => String(n).padStart(2, '0')

/** `03:12`, for the time in a state. */
export function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return h > 0 ? `${h}:${pad(m)}:${pad(s)}` : `${pad(m)}:${pad(s)}`
}

const OUTCOMES: Readonly<Record<string, string>> = {
  timeout: 'did not answer in time',
  dns: 'host name does not resolve',
  refused: 'refused the connection',
  tls: 'failed the TLS handshake',
  reset: 'closed the connection',
  network: 'cannot be reached',
  malformed: 'did not answer in valid HTTP',
  blocked: 'has an address that is not allowed',
  'unusable-url': 'has a URL that cannot be requested',
  lapsed: 'reported no outcome in time',
  proxy: 'was not contacted, because the proxy of the installation failed',
}

/** What the endpoint did, as a phrase after its name: `answered 503`, `refused the connection`. */
export function outcomePhrase(outcome: string | null, status: number | null): string {
  if (outcome === null) return 'was not attempted'
  if (outcome === 'answered' || outcome === 'delivered') return `answered ${status ?? ''}`.trim()
  return OUTCOMES[outcome] ?? outcome
}

/** The same, short, for a cell: `503`, `timeout`. */
export const outcomeLabel = (outcome: string | null, status: number | null): string =>
  outcome === null ? '–' : status === null ? outcome : String(status)

const nameIn = (names: Readonly<Record<string, number>>, code: number): string | undefined =>
  Object.keys(names).find((name) => names[name] === code)
export const callState = (code: number): string => nameIn(CallState, code) ?? `state ${code}`
export const callDirection = (code: number): string => nameIn(Direction, code) ?? `direction ${code}`

const RECOVERY_WAITS: Readonly<Record<string, string>> = {
  'endpoint-cooling-down': 'the cool-down of the endpoint to end',
  'endpoint-answers': 'the endpoint to answer',
  'subscription-enabled': 'the endpoint to be enabled',
  'subscription-resumed': 'the endpoint to be resumed',
  broker: 'the broker',
}
export const recoveryWait = (reason: string): string => RECOVERY_WAITS[reason] ?? reason

/** `sip:alice@acme.example` → `alice`. */
export const agentName = (uri: string): string => uri.replace(/^(sips?|tel):/i, '').split('@')[0] ?? uri

/** Host and path of a URL, without the scheme. null: of a pull subscription. */
export const shortUrl = (url: string | null): string => url?.replace(/^https?:\/\//, '') ?? 'received by clients'

/** How a state is shown. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet'

/** For lists that begin with what needs a person. */
export const RANK_OF_TONE = { bad: 0, warn: 1, good: 2, quiet: 3 } as const

const STATES: Readonly<Record<string, Tone>> = {
  acknowledged: 'good',
  waiting: 'warn',
  parked: 'bad',
  paused: 'warn',
  done: 'good',
}

/** Of a delivery or a recovery. */
export const toneOfState = (state: string): Tone => STATES[state] ?? 'quiet'
