import type { Tenant } from '@switchhook/contracts'
import { createBatch, getOrCreate, type Logger } from '@switchhook/runtime'
import type { AuditStore, NewAuditEntry } from '@switchhook/store'

/** Bounds the memory while Redis is slow: about 5 MB. */
const MAX_WAITING = 10_000
/** Redis serves nothing else during a call: about 0.1 ms for so many entries. */
const MAX_AT_ONCE = 25

/**
 * Stores the audit entries of commands after their answers, because a command must not wait for one more round trip. An
 * entry that cannot be stored, or that waited when the process died, is only in the log, where its line was written first.
 */
export function openLaterEntries(
  auditLog: Pick<AuditStore, 'append'>,
  log: Pick<Logger, 'warn'>,
  { mostWaiting = MAX_WAITING }: { readonly mostWaiting?: number } = {},
) {
  const waiting = new Map<Tenant, NewAuditEntry[]>()
  let count = 0
  let dropped = 0
  let storing: Promise<void> | undefined
  // A call costs Redis ten times as much as an entry in it.
  const gathered = createBatch({
    // `count` bounds them.
    maxWeight: Infinity,
    write(all: readonly (readonly [Tenant, NewAuditEntry])[]) {
      for (const [tenant, entry] of all) getOrCreate(waiting, tenant, () => []).push(entry)
      storing ??= store()
    },
  })

  /** Includes the entries that are added meanwhile. */
  async function store(): Promise<void> {
    for (const [tenant, entries] of waiting) {
      const taken = entries.splice(0, MAX_AT_ONCE)
      // Behind the other tenants: none of them waits for all entries of a busy one.
      waiting.delete(tenant)
      if (entries.length > 0) waiting.set(tenant, entries)
      count -= taken.length
      await auditLog.append(tenant, 'commands', taken).catch((error: unknown) => warn(taken.length, error))
      if (dropped > 0) warn(dropped, new Error(`More than ${mostWaiting} entries waited for Redis.`))
      dropped = 0
    }
    storing = undefined
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
      gathered.add([tenant, entry])
    },
    /** Resolves once the entries so far are stored or given up. */
    stored: async (): Promise<void> => {
      gathered.flush()
      await storing
    },
  }
}
