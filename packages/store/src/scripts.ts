import { readFileSync } from 'node:fs'

/** The Lua scripts of this package and what they reply; each file's header names its KEYS, ARGV and result. */
export interface ScriptReplies {
  'append-audit': string
  'begin-check': 'begun' | 'running' | 'too-many'
  'begin-idempotent': ['new' | 'replay', string] | ['mismatch' | 'busy', undefined?]
  'begin-recovery': [opening: string, recoveredAt: string] | []
  'begin-redelivery': string | null
  'claim-outbox': string[]
  'claim-probe': 0 | 1
  'claim-timers': string[]
  'commit-state': 0 | 1
  'count-parked': [count: number, withoutBody: number, dropped: number, bodiesUntil: string]
  'count-request': [count: number, leftMs: number]
  'delete-own': 0 | 1
  'excess-parked': [count: number, drop: string[], bodies: string[]]
  'finish-idempotent': 0 | 1
  'finish-timers': number
  'forget-idempotent': 0 | 1
  'index-parked': string
  'index-pending': number
  'list-events': number
  'list-idempotent': [listed: 0 | 1, ...scopes: string[]]
  'look-at-endpoint': [state: 'closed' | 'open' | 'probing', failures: number, openUntil: string, subscription: string]
  'mark-crossing-told': 0 | 1
  'note-contact': 1
  'note-failure': 0 | 1
  'note-released': number
  'order-subscriptions': 0 | 1
  'page-subscriptions': string[] | null
  'redelivery-sent': 0 | 1
  'release-idempotent': 0 | 1
  'release-parked': 0 | 1
  'remove-idle-relays': number
  'sent-outbox': number
  'settle-delivery': [ledger: string, unparked: 0 | 1]
  'write-installation': 0 | 1
  'write-subscription': 0 | 1
}

export type ScriptName = keyof ScriptReplies

const FILES: Readonly<Record<ScriptName, string>> = {
  'append-audit': 'append-audit.lua',
  'begin-check': 'begin-check.lua',
  'begin-idempotent': 'begin-idempotent.lua',
  'begin-recovery': 'begin-recovery.lua',
  'begin-redelivery': 'begin-redelivery.lua',
  'claim-outbox': 'claim-outbox.lua',
  'claim-probe': 'claim-probe.lua',
  'claim-timers': 'claim-timers.lua',
  'commit-state': 'commit-state.lua',
  'count-parked': 'count-parked.lua',
  'count-request': 'count-request.lua',
  'delete-own': 'delete-own.lua',
  'excess-parked': 'excess-parked.lua',
  'finish-idempotent': 'finish-idempotent.lua',
  'finish-timers': 'finish-timers.lua',
  'forget-idempotent': 'forget-idempotent.lua',
  'index-parked': 'index-parked.lua',
  'index-pending': 'index-pending.lua',
  'list-events': 'list-events.lua',
  'list-idempotent': 'list-idempotent.lua',
  'look-at-endpoint': 'look-at-endpoint.lua',
  'mark-crossing-told': 'mark-crossing-told.lua',
  'note-contact': 'note-contact.lua',
  'note-failure': 'note-failure.lua',
  'note-released': 'note-released.lua',
  'order-subscriptions': 'order-subscriptions.lua',
  'page-subscriptions': 'page-subscriptions.lua',
  'redelivery-sent': 'redelivery-sent.lua',
  'release-idempotent': 'release-idempotent.lua',
  'release-parked': 'release-parked.lua',
  'remove-idle-relays': 'remove-idle-relays.lua',
  'sent-outbox': 'sent-outbox.lua',
  'settle-delivery': 'settle-delivery.lua',
  'write-installation': 'write-installation.lua',
  'write-subscription': 'write-subscription.lua',
}

/** In the form of ioredis' option `scripts`. The files lie beside `src` and `dist`, at the same distance from both. */
export function loadScripts(): Record<string, { lua: string }> {
  return Object.fromEntries(Object.entries(FILES).map(([name, file]) => [name, { lua: read(file) }]))
}

const read = (file: string): string => readFileSync(new URL(`../lua/${file}`, import.meta.url), 'utf8')
