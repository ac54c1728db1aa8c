import type { Tenant } from '@switchhook/contracts'
import { getOrCreate, type Logger, startPoll } from '@switchhook/runtime'
import { cellEndMs, inChunks, type Keep, type KeptCounts, type KeptKind } from '@switchhook/store'
import { LRUCache } from 'lru-cache'

export interface TenantLimitsDeps {
  readonly counts: KeptCounts
  /** How many of each kind a tenant may keep. */
  readonly limits: Readonly<Record<KeptKind, number>>
  readonly redisNow: () => number
  readonly log: Pick<Logger, 'debug' | 'info'>
}

/** What was kept and refused since the last flush. `cells`: the end of a cell of time → how many end in it. */
interface Unwritten {
  readonly tenant: Tenant
  readonly kind: KeptKind
  readonly cells: Map<number, number>
  kept: number
  refused: number
}

/** A worker that dies loses so much of its counts, and tenants exceed a limit by what the other workers keep meanwhile. */
const FLUSH_EVERY_MS = 5_000

/** More tenants than are active within `REMEMBERED_MS`. One that was forgotten may keep more until the next flush. */
const MAX_REMEMBERED = 30_000
const REMEMBERED_MS = 10 * 60_000

/**
 * Bounds what tenants keep that ends at a known time. Off the path of deliveries: counts are kept in memory and written with
 * each flush, which reads what all workers have counted.
 */
export function createTenantLimits({ counts, limits, redisNow, log }: TenantLimitsDeps) {
  let unwritten = new Map<string, Unwritten>()
  /** Of all workers when last read, with what this one has kept since. */
  const totals = new LRUCache<string, number>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS })

  const entryOf = (name: string, tenant: Tenant, kind: KeptKind): Unwritten =>
    getOrCreate(unwritten, name, () => ({ tenant, kind, cells: new Map(), kept: 0, refused: 0 }))

  const keep: Keep = (tenant, kind, keptMs, units = 1) => {
    const name = `${kind} ${tenant ?? ''}`
    const entry = entryOf(name, tenant, kind)
    const total = totals.get(name) ?? 0
    if (total >= limits[kind]) {
      entry.refused += units
      return false
    }
    const endMs = cellEndMs(redisNow(), keptMs)
    entry.cells.set(endMs, (entry.cells.get(endMs) ?? 0) + units)
    entry.kept += units
    totals.set(name, total + units)
    return true
  }

  /** Writes everything counted so far. Call it again only after it has resolved. */
  async function flush(): Promise<void> {
    const due = unwritten
    unwritten = new Map()
    let lost = 0
    const write = async ([name, { tenant, kind, cells, refused }]: [string, Unwritten]): Promise<void> => {
      try {
        const total = await counts.add(tenant, kind, cells, refused > 0)
        totals.set(name, total + (unwritten.get(name)?.kept ?? 0))
        if (refused > 0) log.info('a tenant is at its limit', { tenant, kind, limit: limits[kind], refused })
      } catch {
        lost += 1
        // Unlike counts, refusals may be written twice. Without them, deliveries whose records were short look pending.
        if (refused > 0) entryOf(name, tenant, kind).refused += refused
      }
    }
    // One after the other, tenants whose primary of a cluster is silent would delay all others.
    await inChunks([...due], write)
    if (lost > 0) log.debug('what tenants keep was not counted', { tenants: lost })
  }

  return { keep, flush }
}

/** Flushes from time to time, and when it is stopped. */
export function startTenantLimits(deps: TenantLimitsDeps) {
  const { keep, flush } = createTenantLimits(deps)
  const poll = startPoll(FLUSH_EVERY_MS, flush)
  const stop = async (): Promise<void> => {
    await poll.stop()
    await flush()
  }
  return { keep, stop }
}
