import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import type { Contact, ContactStore } from '@switchhook/store'
import type { Report } from './attempt-log.ts'

export interface ContactsDeps {
  readonly store: Pick<ContactStore, 'note'>
  readonly everyMs: number
  readonly log: { debug(message: string, fields: Readonly<Record<string, unknown>>): void }
}

export interface Contacts {
  /** The same report, and a note of when each endpoint acknowledged or failed. */
  readonly reporting: (report: Report) => Report
  /** Writes what is not written yet. */
  flush(): Promise<void>
  stop(): Promise<void>
}

interface Noted {
  readonly tenant: string | null
  readonly contact: Contact
}

/** More endpoints than a worker reaches in an interval. Beyond it nothing is noted until the next one. */
const MOST_NOTED = 20_000

/** Written together: deliveries share the connection, and must not wait behind thousands of notes. */
const AT_A_TIME = 200

/**
 * Notes for people when endpoints were last heard of, off the path of the deliveries: of each endpoint only the latest is
 * kept, and written every few seconds. A worker that dies loses that much, and so does one that cannot write.
 */
export function startContacts({ store, everyMs, log }: ContactsDeps): Contacts {
  let noted = new Map<SubscriptionId, Noted>()
  let writing: Promise<void> = Promise.resolve()

  const note: Report = ({ tenant, subscriptionId }: Delivery, attempt) => {
    if (attempt === null || (noted.size >= MOST_NOTED && !noted.has(subscriptionId))) return
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

  async function write(): Promise<void> {
    const due = [...noted]
    noted = new Map()
    let lost = 0
    while (due.length > 0) {
      const written = await Promise.allSettled(
        due
          .splice(0, AT_A_TIME)
          .map(([subscriptionId, { tenant, contact }]) => store.note({ tenant, subscriptionId }, contact)),
      )
      lost += written.filter(({ status }) => status === 'rejected').length
    }
    if (lost > 0) log.debug('when endpoints were last heard of was not written', { endpoints: lost })
  }

  async function flush(): Promise<void> {
    const before = writing
    writing = before.then(write)
    await writing
  }

  const timer = setInterval(() => void flush(), everyMs)
  timer.unref()

  return {
    reporting: (report) => (delivery, attempt, decision, outcome) => {
      note(delivery, attempt, decision, outcome)
      report(delivery, attempt, decision, outcome)
    },
    flush,
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}

const NOTHING: Contact = { successAtMs: null, failureAtMs: null, failure: null }
