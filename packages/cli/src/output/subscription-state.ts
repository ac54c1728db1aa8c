import type { Schemas } from '@switchhook/client'

type Stated = Pick<Schemas['Subscription'], 'enabled' | 'paused' | 'pausedUntil' | 'health'>

/** A subscription in a word. `failed`: its last attempt, without a cool-down. */
export function subscriptionState({ enabled, paused, pausedUntil, health }: Stated, nowMs = Date.now()): string {
  if (!enabled) return 'disabled'
  if (paused === true || (pausedUntil !== null && Date.parse(pausedUntil) > nowMs)) return 'paused'
  if (health.state !== 'closed') return health.state
  return health.failingSince === null ? 'ok' : 'failed'
}
