import type { Subscription } from '@switchhook/contracts'
import type { HeldCount, ParkedCount, Pulled } from '@switchhook/store'
import { entityTagOf } from '../../http/entity-tag.ts'
import { described } from '../../http/schema.ts'
import { momentOf } from '../moment.ts'
import type { Health } from '../stores.ts'
import { healthViewOf } from './endpoint-health.ts'
import { warningsOf } from './filter-schema.ts'
import { type pauseWarnings, shownSettings } from './optional-settings.ts'
import { shownHeaders } from './own-headers.ts'
import { signingViewOf } from './signing-schema.ts'
import { subscriptionSchema } from './subscription-schema.ts'

/** The number of parked deliveries of a subscription, and how many of them may keep their body. */
export type Parked = Pick<ParkedCount, 'count' | 'withoutBody' | 'dropped'> & { readonly limit: number }

export const noneParked = (limit: number): Parked => ({ count: 0, limit, withoutBody: 0, dropped: 0 })

export const NONE_HELD: HeldCount = { count: 0, leased: 0, oldestAt: null }
export const NO_PULLERS: Pulled = { lastAtMs: null, pullers: [] }

/** A subscription as clients see it: without its tenant, which is always the caller's, and without its secrets. */
export function viewOf(
  subscription: Subscription,
  health: Health,
  { count, limit, withoutBody, dropped }: Parked,
  { pullers, lastAtMs, ...held }: HeldCount & Pulled,
  nowMs: number,
) {
  const { mode = 'post', url, signing } = subscription
  return described(subscriptionSchema, {
    ...subscription,
    mode,
    url: mode === 'pull' ? null : url,
    ...shownSettings(subscription),
    headers: shownHeaders(subscription),
    warnings: warningsOf(subscription),
    signing: signingViewOf(signing, nowMs),
    health: healthViewOf(health),
    parked: { count, limit, withoutBody, dropped },
    held: { ...held, lastReceivedAt: momentOf(lastAtMs) },
    receivers: pullers.map(({ clientId, sinceMs, lastAtMs: lastMs }) => ({
      clientId,
      since: new Date(sinceMs).toISOString(),
      lastAt: new Date(lastMs).toISOString(),
    })),
  })
}

/** Covers what a client could overwrite, and the secret. Health and parked deliveries change with every delivery. */
export function tagOf(subscription: Subscription): string {
  const { id, url, eventTypes, description, enabled, createdAt, signing, headers } = subscription
  const parts = [id, url, eventTypes, description, enabled, createdAt, signing?.id, headers]
  return entityTagOf([...parts, shownSettings(subscription)])
}

/**
 * An answer whose stored copy leaves out what can be large. `rereadLarge` supplies it for a replay.
 * @param warnings of this request only
 */
export const answerWith = (view: ReturnType<typeof viewOf>, warnings: ReturnType<typeof pauseWarnings>) => ({
  body: { ...view, warnings: [...view.warnings, ...warnings], filter: null, headers: null, receivers: [] },
  large: largeOf(view),
})

export const largeOf = ({ filter, headers, receivers }: ReturnType<typeof viewOf>) => ({ filter, headers, receivers })
