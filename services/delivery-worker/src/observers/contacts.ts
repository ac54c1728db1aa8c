import type { SubscriptionId, Tenant } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { type Contact, type ContactStore, inChunks } from '@switchhook/store'
import type { Concluded } from './observer.ts'

/** More endpoints than a worker reaches in an interval. Beyond it no other endpoint is remembered until the next interval. */
const MAX_GATHERED = 20_000

/** Writes in flight. Deliveries share the Redis connection and must not wait behind thousands of these. */
const AT_A_TIME = 200

/**
 * Records the last success and the last failure of each endpoint, for people. Off the path of deliveries: they are kept in
 * memory and the latest of each endpoint is written with each flush. A worker that dies, or cannot write, loses them.
 */
export function createContacts(store: Pick<ContactStore, 'record'>, log: Pick<Logger, 'debug'>) {
  let gathered = new Map<SubscriptionId, { readonly tenant: Tenant; readonly contact: Contact }>()

  const concluded: Concluded = ({ tenant, subscriptionId }, attempt) => {
    if (attempt === null || (gathered.size >= MAX_GATHERED && !gathered.has(subscriptionId))) return
    const { contact = NOTHING } = gathered.get(subscriptionId) ?? {}
    const endedAtMs = Date.parse(attempt.at) + Math.round(attempt.durationMs)
    const { outcome, status } = attempt
    const news =
      outcome === 'delivered'
        ? { successAtMs: Math.max(endedAtMs, contact.successAtMs ?? 0) }
        : endedAtMs >= (contact.failureAtMs ?? 0)
          ? { failureAtMs: endedAtMs, failure: { outcome, status } }
          : {}
    gathered.set(subscriptionId, { tenant, contact: { ...contact, ...news } })
  }

  /** Writes everything gathered so far. Call it again only after it has resolved. */
  async function flush(): Promise<void> {
    const due = [...gathered]
    gathered = new Map()
    let lost = 0
    const write = ([subscriptionId, { tenant, contact }]: (typeof due)[number]): Promise<void> =>
      store.record({ tenant, subscriptionId }, contact).catch(() => void (lost += 1))
    await inChunks(due, write, AT_A_TIME)
    if (lost > 0) log.debug('contact times of endpoints were not written', { endpoints: lost })
  }

  return { observer: { concluded }, flush }
}

const NOTHING: Contact = { successAtMs: null, failureAtMs: null, failure: null }
