import { CallState, DeviceStatus, Direction, EndReason, type Schemas } from '@switchhook/client'
import type { Tone } from './output.ts'

const nameIn =
  (names: Readonly<Record<string, number>>) =>
  (code: number | undefined): string =>
    Object.entries(names).find(([, value]) => value === code)?.[0] ?? String(code ?? '–')

/** Names of numeric codes; an unknown code is its number. */
export const callState = nameIn(CallState)
export const deviceStatus = nameIn(DeviceStatus)
export const direction = nameIn(Direction)
export const endReason = nameIn(EndReason)

/** `2026-11-23T15:07:12Z`: UTC, as everywhere in the API and in logs. */
export const moment = (iso: string | null): string | null => iso?.replace(/\.\d+Z$/, 'Z') ?? null

export const deliveries = (count: number): string => `${count} ${count === 1 ? 'delivery' : 'deliveries'}`

/** `15:07:12.123` */
export const clock = (iso: string): string => iso.slice(11, -1)

interface Answered {
  readonly outcome: string
  readonly status: number | null
}

/** `503`, or `timeout`. */
export const outcome = ({ status, outcome: kind }: Answered): string => String(status ?? kind)

const TONES: Readonly<Record<string, Tone>> = {
  acknowledged: 'good',
  delivered: 'good',
  passed: 'good',
  ok: 'good',
  parked: 'bad',
  failed: 'bad',
  finding: 'bad',
  open: 'bad',
  waiting: 'warn',
  'cooling-down': 'warn',
  probing: 'warn',
  disabled: 'warn',
  paused: 'warn',
  skipped: 'dim',
}

export const toneOf = (state: string): Tone | undefined => TONES[state]

type Stated = Pick<Schemas['Subscription'], 'enabled' | 'paused' | 'pausedUntil' | 'health'>

/** A subscription in a word. `failed`: its last attempt, without a cool-down. */
export function subscriptionState({ enabled, paused, pausedUntil, health }: Stated, nowMs = Date.now()): string {
  if (!enabled) return 'disabled'
  if (paused === true || (pausedUntil !== null && Date.parse(pausedUntil) > nowMs)) return 'paused'
  if (health.state !== 'closed') return health.state
  return health.failingSince === null ? 'ok' : 'failed'
}
