import type { Subscription } from '@switchhook/contracts'
import { createBreakerReader, createContactStore, type Redis } from '@switchhook/store'
import type { Health } from './subscription-view.ts'

/** Reads the circuit breaker and the latest answers of a subscription's endpoint. */
export function createHealthOf(redis: Redis): (subscription: Subscription) => Promise<Health> {
  const breakers = createBreakerReader(redis)
  const contacts = createContactStore(redis)
  return async ({ tenant, id }) => {
    const endpoint = { tenant, subscriptionId: id }
    const [health, contact] = await Promise.all([breakers.health(endpoint), contacts.find(endpoint)])
    return { ...health, ...contact }
  }
}
