import type { Signing, Subscription } from '@switchhook/contracts'

/** Settings by which something is not sent, or later. Workers of earlier versions do not know them, and would send it. */
const GUARDED_SETTINGS: readonly (keyof Subscription)[] = [
  'mode',
  'paused',
  'pausedUntil',
  'filter',
  'expireAfterSeconds',
  'headers',
  'maxInFlight',
  'maxPerSecond',
]

/**
 * A signing that no worker can open. Workers of earlier versions send nothing unsigned, so their deliveries wait until a
 * worker of this version has them. The id of the key is what those workers log.
 */
const UNREADABLE: Signing = {
  id: '00000000-0000-0000-0000-000000000000',
  secret: 'v1.of-a-newer-version-of-switchhook.',
  since: '1970-01-01T00:00:00.000Z',
  former: [],
}

type Stored = Subscription & { readonly guarded?: Pick<Subscription, 'signing'> }

/** The stored form of a subscription. One with a guarded setting hides its signing from earlier versions. */
export function subscriptionToText(subscription: Subscription, guardedSettings = GUARDED_SETTINGS): string {
  if (!guardedSettings.some((name) => subscription[name] !== undefined)) return JSON.stringify(subscription)
  const { signing, ...rest } = subscription
  const stored: Stored = { ...rest, signing: UNREADABLE, guarded: { ...(signing !== undefined && { signing }) } }
  return JSON.stringify(stored)
}

/** Only the subscription store writes subscriptions, so the JSON is not validated. */
export function parseSubscription(text: string): Subscription {
  const { guarded, ...stored } = JSON.parse(text) as Stored
  if (guarded === undefined) return stored
  const { signing, ...rest } = stored
  // An api of an earlier version may have rotated the secret.
  const isRotated = signing !== undefined && signing.secret !== UNREADABLE.secret
  return isRotated ? stored : { ...rest, ...guarded }
}
