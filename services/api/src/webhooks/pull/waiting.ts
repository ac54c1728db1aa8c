import type { SubscriptionId, Tenant } from '@switchhook/contracts'
import { type Logger, type Poll, startPoll } from '@switchhook/runtime'
import type { HeldStore } from '@switchhook/store'
import { type HeaderedError, retryAfter } from '../../http/headered-error.ts'

/** Requests that wait in this process, each with its connection. A tenant can invent clients. */
const MOST = { subscription: 4, client: 200, tenant: 1_000 }
const POLL_EVERY_MS = 250
const RETRY_AFTER_SECONDS = 2

interface Waiter {
  readonly id: SubscriptionId
  readonly untilMs: number
  readonly isClosed: () => boolean
  readonly end: (mayBeDue: boolean) => void
}

export type Waiting = ReturnType<typeof createWaiting>

/** The requests of this process that wait for deliveries. One pipeline, with a command per subscription, serves all. */
export function createWaiting(held: Pick<HeldStore, 'areDue'>, log: Pick<Logger, 'warn'>) {
  const waiters = new Set<Waiter>()
  const counts = {
    subscription: new Map<string, number>(),
    client: new Map<string, number>(),
    tenant: new Map<string, number>(),
  }
  let poll: Poll | undefined
  let isClosing = false

  function end(waiter: Waiter, mayBeDue: boolean): void {
    waiters.delete(waiter)
    waiter.end(mayBeDue)
  }

  async function endDue(): Promise<void> {
    for (const waiter of waiters) {
      if (isClosing || waiter.isClosed() || performance.now() >= waiter.untilMs) end(waiter, false)
    }
    const waiting = Map.groupBy(waiters, ({ id }) => id)
    if (waiting.size === 0) return
    const due = await held.areDue([...waiting.keys()])
    // One request can take all that is due; the next poll wakes the next one.
    for (const [i, [first]] of [...waiting.values()].entries()) {
      if (due[i] === true && first !== undefined) end(first, true)
    }
  }

  const failed = (error: unknown): void => log.warn('held deliveries cannot be read; retrying', { error })

  return {
    /**
     * @param client a name that no other client has; undefined: only the limit of the subscription applies
     * @throws HeaderedError `too-many-receivers`
     */
    enter(id: SubscriptionId, client: string | undefined, tenant: Tenant) {
      const owners = { subscription: id, ...(client !== undefined && { client, tenant: JSON.stringify(tenant) }) }
      const places = Object.entries(owners) as [keyof typeof MOST, string][]
      const full = places.find(([owner, name]) => (counts[owner].get(name) ?? 0) >= MOST[owner])
      if (full !== undefined) throw tooMany(`${MOST[full[0]]} requests of this ${full[0]}`)
      const leaves = places.map(([owner, name]) => count(counts[owner], name))
      return {
        /** Resolves to whether a delivery may be due; false at the end of the wait, and once the client is gone. */
        wait: (untilMs: number, isClosed: () => boolean): Promise<boolean> =>
          new Promise((resolve) => {
            if (isClosing || performance.now() >= untilMs) return resolve(false)
            waiters.add({ id, untilMs, isClosed, end: resolve })
            poll ??= startPoll(POLL_EVERY_MS, endDue, failed)
          }),
        /** Frees the place. */
        leave: (): void => {
          for (const leave of leaves.splice(0)) leave()
        },
      }
    },
    /** The number of places that are taken. */
    count: () => [...counts.subscription.values()].reduce((sum, each) => sum + each, 0),
    /** Ends all waits. */
    async close(): Promise<void> {
      isClosing = true
      await endDue()
      await poll?.stop()
    },
  }
}

/** Counts one more. @returns counts one less */
function count(counts: Map<string, number>, name: string): () => void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
  return () => {
    const rest = (counts.get(name) ?? 1) - 1
    if (rest > 0) counts.set(name, rest)
    else counts.delete(name)
  }
}

const tooMany = (what: string): HeaderedError =>
  retryAfter('too-many-receivers', RETRY_AFTER_SECONDS, `At most ${what} can wait in one process.`)
