import { readdirSync, readFileSync } from 'node:fs'

/**
 * What each Lua script replies. A script is named by its path in `lua/`, whose folders have the names of those in `src/`.
 * The header of its file names KEYS, ARGV and the result.
 */
export interface ScriptReplies {
  'breaker/claim-probe': 0 | 1
  'breaker/record-contact': void
  'breaker/record-failure': 0 | 1
  'breaker/record-answer': void
  'breaker/record-rejection': void
  'breaker/record-outage-end': [opening: string, recoveredAt: string] | []
  'breaker/read-endpoints': [
    state: 'closed' | 'open' | 'probing',
    failures: number,
    openUntil: string,
    subscription: string,
    isListened: 0 | 1,
    rejected: string,
    recentHangs: number,
  ][]
  'breaker/give-up-probe': void
  'deliveries/add-parked': [since: string, size: number]
  'deliveries/begin-redelivery': string | null
  'deliveries/confirm-redelivery': void
  'deliveries/count-kept': number
  'deliveries/count-parked': [count: number, withoutBody: number, dropped: number, bodiesUntil: string]
  'deliveries/find-excess-parked': [size: number, now: string, drop: string[], bodies: string[]]
  'deliveries/record-released-parked': [dropped: number, size: number]
  'deliveries/record-size':
    | [isDue: 0 | 1, over: number, longest: string, keep: number, cut: string]
    | [isDue: 0 | 1, over: number]
  'deliveries/remove-parked': void
  'deliveries/release-parked': 0 | 1 | 2
  'deliveries/settle-delivery': string | null
  'deliveries/write-first-records': string[]
  'held/add-held': [isFirst: 0 | 1, before: number, size: number, lease: string, ...claimed: string[]]
  'held/ask-visit': void
  'held/claim-visits': string[]
  'held/finish-visit': void
  'held/forget-message': void
  'held/keep-time': void
  'held/lease-held': string[]
  'held/release-leases': (0 | 1)[]
  'held/remove-held': void
  'held/report-outcomes': string[]
  'history/add-events': void
  'installation/write-installation': void
  'permits/reserve-permits': [waitMs: number, ...idsAndLeases: string[]]
  'permits/take-permit': 0 | 1
  'redis/delete-field-if-equal': void
  'redis/delete-if-equal': void
  'redis/mark-reported': void
  'requests/append-audit': void
  'requests/begin-request': ['new' | 'replay', string] | ['mismatch' | 'busy', undefined?]
  'requests/count-requests': [count: number, leftMs: number]
  'requests/finish-request': 0 | 1
  'requests/forget-request': 0 | 1
  'requests/list-request': [listed: 0 | 1, ...scopes: string[]]
  'state/claim-events': string[]
  'state/claim-timers': string[]
  'state/commit-state': [written: 0 | 1, ...entries: string[]]
  'state/extend-timers': void
  'state/finish-timers': void
  'state/remove-sent-events': void
  'state/note-uptime': void
  'statistics/add-counts': string[]
  'state/take-lease': 0 | 1
  'subscriptions/begin-check': 'begun' | 'running' | 'too-many'
  'subscriptions/read-changes': [revision: string, ...idsAndSubscriptions: string[]] | null
  'subscriptions/write-subscription': 0 | 1 | 2 | 3 | string
}

export type ScriptName = keyof ScriptReplies

/** `lua/` is outside `src/` because the images leave `src/` out. It is at the same distance from `src/` and `dist/`. */
const LUA = new URL('../../lua/', import.meta.url)

/** Functions for all scripts, in one line, so that the line in an error of Redis is that of the file. */
const PRELUDE = readFileSync(new URL('prelude.lua', LUA), 'utf8')
  .replaceAll(/^--.*$/gm, '')
  .replaceAll(/\s+/g, ' ')

/** All scripts, in the form of ioredis' option `scripts`. Flags of a script must stay in its first line. */
export function loadScripts(): Record<string, { lua: string }> {
  const files = readdirSync(LUA, { recursive: true, encoding: 'utf8' }).filter((file) => /\/.+\.lua$/.test(file))
  return Object.fromEntries(
    files.map((file) => {
      const script = readFileSync(new URL(file, LUA), 'utf8')
      return [file.slice(0, -'.lua'.length), { lua: script.replace(/^(#!.*\n)?/, (flags) => flags + PRELUDE) }]
    }),
  )
}
