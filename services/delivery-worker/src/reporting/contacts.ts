import type { SubscriptionId, Tenant } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { type Contact, type ContactStore, inChunks } from '@switchhook/store'
import type { Concluded } from './listener.ts'

/** More endpoints than a worker reaches in an interval. Beyond it no other endpoint is noted until the next interval. */
const MAX_NOTED = 20_000

/** Writes in flight. Deliveries share the Redis connection and must not wait behind thousands of notes. */
const AT_A_TIME = 200

/**
 * Notes the last success and the last failure of each endpoint, for people. Off the path of deliveries: notes are kept in
 * memory and the latest of each endpoint is written with each flush. A worker that dies, or cannot write, loses them.
 */
export function createContacts(store: Pick<ContactStore, 'note'>, log: Pick<Logger, 'debug'>) {
  let noted = new Map<SubscriptionId, { readonly tenant: Tenant; readonly contact: Contact }>()

  const concluded: Concluded = ({ tenant, subscriptionId }, attempt) => {
    if (attempt === null || (noted.size >= MAX_NOTED && !noted.has(subscriptionId))) return
    const { contact = NOTHING } = noted.get(subscriptionId) ?? {}
    const endedAtMs = Date.parse(attempt.at) + Math.round(attempt.durationMs)
    const { outcome, status } = attempt
    const news =
      outcome === 'delivered'
        ? { successAtMs: Math.max(endedAtMs, contact.successAtMs ?? 0) }
        : endedAtMs >= (contact.failureAtMs ?? 0)
          ? { failureAtMs: endedAtMs, failure: { outcome, status } }
          : {}
    noted.set(subscriptionId, { tenant, contact: { ...contact, ...news } })
  }

  /** Writes everything noted so far. Call it again only after it has resolved. */
  async function flush(): Promise<void> {
    const due = [...noted]
    noted = new Map()
    let lost = 0
    const write = ([subscriptionId, { tenant, contact }]: (typeof due)[number]): Promise<void> =>
      store.note({ tenant, subscriptionId }, contact).catch(() => void (lost += 1))
    await inChunks(due, write, AT_A_TIME)
    if (lost > 0) log.debug('contact times of endpoints were not written', { endpoints: lost })
  }

  return { listener: { concluded }, flush }
}

const NOTHING: Contact = { successAtMs: null, failureAtMs: null, failure: null }
