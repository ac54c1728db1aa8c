import type { Tenant } from '@switchhook/contracts'
import { createBatch, type Logger } from '@switchhook/runtime'
import type { AuditStore, NewAuditEntry } from '@switchhook/store'

/** Bounds the memory while Redis is slow: about 5 MB. */
const MAX_WAITING = 10_000
/** Redis serves nothing else during a call: about 0.1 ms for so many entries. */
const MAX_AT_ONCE = 25
/** A call costs Redis ten times as much as an entry in it. */
const GATHER_MS = 50

interface Added {
  readonly tenant: Tenant
  readonly entry: NewAuditEntry
}

/**
 * Stores the audit entries of commands after their answers, because a command must not wait for one more round trip. An
 * entry that cannot be stored, or that waited when the process died, is only in the log, where its line was written first.
 */
export function openLaterEntries(
  auditLog: Pick<AuditStore, 'append'>,
  log: Pick<Logger, 'warn'>,
  { mostWaiting = MAX_WAITING }: { readonly mostWaiting?: number } = {},
) {
  let count = 0
  let dropped = 0
  let stored = Promise.resolve()
  const gathered = createBatch({
    waitMs: GATHER_MS,
    maxWeight: mostWaiting,
    write: (added: readonly Added[]) => (stored = stored.then(() => store(added))),
  })

  async function store(added: readonly Added[]): Promise<void> {
    const waiting = Map.groupBy(added, ({ tenant }) => tenant)
    // Those left go behind the other tenants: none of them waits for all entries of a busy one.
    for (const [tenant, some] of waiting) {
      const entries = some.splice(0, MAX_AT_ONCE).map(({ entry }) => entry)
      waiting.delete(tenant)
      if (some.length > 0) waiting.set(tenant, some)
      count -= entries.length
      await auditLog.append(tenant, 'commands', entries).catch((error: unknown) => warn(entries.length, error))
      if (dropped > 0) warn(dropped, new Error(`More than ${mostWaiting} entries waited for Redis.`))
      dropped = 0
    }
  }

  const warn = (entries: number, error: unknown): void =>
    log.warn('entries of the audit log could not be stored', { entries, error })

  return {
    /** Returns immediately. The entry is stored within about 50 ms. */
    add(tenant: Tenant, entry: NewAuditEntry): void {
      if (count >= mostWaiting) {
        dropped += 1
        return
      }
      count += 1
      gathered.add({ tenant, entry })
    },
    /** Resolves once the entries so far are stored or given up. */
    stored: async (): Promise<void> => gathered.flush() ?? stored,
  }
}
