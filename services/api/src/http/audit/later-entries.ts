import type { Tenant } from '@switchhook/contracts'
import { createBatch, type Logger } from '@switchhook/runtime'
import type { AuditStore, NewAuditEntry } from '@switchhook/store'

/** Bounds the memory while Redis is slow: about 5 MB. */
const MAX_WAITING = 10_000
/** Redis serves nothing else during a call: about 0.1 ms for so many entries. */
const MAX_AT_ONCE = 25
/** A call costs Redis ten times as much as an entry in it. */
const GATHER_MS = 50

interface Waiting {
  readonly tenant: Tenant
  readonly entry: NewAuditEntry
}

/**
 * Stores the audit entries of commands after their answers, because a command must not wait for one more round trip. Those
 * of 50 ms are stored together. Entries that cannot be stored, or that waited when the process died, are only in the log,
 * where their lines were written first.
 */
export function openLaterEntries(
  auditLog: Pick<AuditStore, 'append'>,
  log: Pick<Logger, 'warn'>,
  { mostWaiting = MAX_WAITING }: { readonly mostWaiting?: number } = {},
) {
  let count = 0
  let dropped = 0
  let storing = Promise.resolve()
  const batch = createBatch({
    waitMs: GATHER_MS,
    maxWeight: MAX_AT_ONCE,
    write: (gathered: readonly Waiting[]) => {
      storing = storing.then(() => store(gathered))
    },
  })

  async function store(gathered: readonly Waiting[]): Promise<void> {
    for (const [tenant, own] of Map.groupBy(gathered, (one) => one.tenant)) {
      const entries = own.map(({ entry }) => entry)
      await auditLog.append(tenant, 'commands', entries).catch((error: unknown) => warn(entries.length, error))
    }
    count -= gathered.length
    if (dropped > 0) warn(dropped, new Error(`More than ${mostWaiting} entries waited for Redis.`))
    dropped = 0
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
      batch.add({ tenant, entry })
    },
    /** Resolves once the entries so far are stored or given up. */
    stored: (): Promise<void> => {
      batch.flush()
      return storing
    },
  }
}
