import type { Subscription } from '@switchhook/contracts'

/** Only the subscription store writes subscriptions, so the JSON is not validated. */
export const parseSubscription = (text: string): Subscription => JSON.parse(text) as Subscription
