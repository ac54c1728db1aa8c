import type { Tenant } from '@switchhook/contracts'
import { type KeptKind, keptKey, refusedKey } from '../keys.ts'
import { type Redis, runScript } from '../redis/redis.ts'

/**
 * Counts something that a tenant keeps for `keptMs`. False: the tenant keeps as many as it may, and this is not counted.
 * @param units how many it counts as
 */
export type Keep = (tenant: Tenant, kind: KeptKind, keptMs: number, units?: number) => boolean

/** What is counted ends up to so much later for the limit. */
const CELL_MS = 5 * 60_000
/** Bounds the cells of a tenant: a flush reads them all. */
const MAX_CELLS = 64

/** The end of the cell in which something ends that is kept for `keptMs`, in ms since 1970. */
export function cellEndMs(nowMs: number, keptMs: number): number {
  const cellMs = Math.max(CELL_MS, Math.ceil(keptMs / MAX_CELLS))
  return Math.ceil((nowMs + keptMs) / cellMs) * cellMs
}

export type KeptCounts = ReturnType<typeof createKeptCounts>

/**
 * How many of each kind a tenant keeps. Nothing is counted down, because a count ends with its cell of time. So no crash makes
 * the counts drift, and what ends early counts until its cell has passed.
 * @param rememberedMs how long a refusal is remembered, for readers of what was kept for less time because of it
 */
export const createKeptCounts = (redis: Redis, rememberedMs: number) => ({
  /**
   * Must not be repeated: it would count twice.
   * @param cells the end of a cell (`cellEndMs`) → how many more end in it
   * @returns how many the tenant keeps
   */
  add(tenant: Tenant, kind: KeptKind, cells: ReadonlyMap<number, number>, wereRefused: boolean): Promise<number> {
    const keys = [keptKey(tenant, kind), refusedKey(tenant, kind)]
    return runScript(redis, 'deliveries/count-kept', keys, [wereRefused ? rememberedMs : '', ...[...cells].flat()])
  },
})
