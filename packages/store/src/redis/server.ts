import { isReply } from './reply-fate.ts'

/** The settings of a Redis server that decide which data it can lose. */
const DURABILITY_SETTINGS = ['appendonly', 'appendfsync', 'maxmemory-policy'] as const

export type DurabilitySettings = { readonly [Name in (typeof DURABILITY_SETTINGS)[number]]?: string | undefined }

/** Leaves out settings that Redis does not permit to read. @param configGet sends CONFIG GET */
export async function readSettings(configGet: (name: string) => Promise<unknown>): Promise<DurabilitySettings> {
  const read = async (name: string): Promise<string | undefined> => {
    try {
      const [, value] = (await configGet(name)) as (string | undefined)[]
      return value
    } catch (error) {
      if (isReply(error)) return undefined
      throw error
    }
  }
  const values = await Promise.all(DURABILITY_SETTINGS.map(read))
  return Object.fromEntries(DURABILITY_SETTINGS.map((name, i) => [name, values[i]]))
}

/** One sentence per setting that lets Redis lose data. A setting that Redis does not reveal is no problem. */
export function problemsOf(settings: DurabilitySettings): string[] {
  const eviction = settings['maxmemory-policy']
  return [
    settings.appendonly === 'no' && 'it must keep an append-only file (appendonly yes)',
    settings.appendfsync === 'no' && 'it must sync that file itself (appendfsync always or everysec)',
    eviction !== undefined && eviction !== 'noeviction' && 'it must not evict keys (maxmemory-policy noeviction)',
  ].filter((problem) => problem !== false)
}

/**
 * Keeps a service from starting in production on a Redis that can lose data.
 * @throws Error that names every problem
 */
export async function assertDurableInProduction(
  redis: { readonly durabilityProblems: () => Promise<string[]> },
  nodeEnv: string,
): Promise<void> {
  if (nodeEnv !== 'production') return
  const problems = await redis.durabilityProblems()
  if (problems.length > 0) throw new Error(`this Redis would lose data: ${problems.join('; ')}`)
}

/** How much memory a Redis server uses, and its limit. */
export interface RedisMemory {
  readonly usedBytes: number
  /** 0: no limit. */
  readonly maxBytes: number
}

/** Parses the reply to INFO memory. Undefined if it lacks the figures, as with some managed servers. */
export function parseMemory(info: string): RedisMemory | undefined {
  const valueOf = (name: string): number | undefined => {
    const digits = new RegExp(`^${name}:(\\d+)\\r?$`, 'm').exec(info)?.[1]
    return digits === undefined ? undefined : Number(digits)
  }
  const [usedBytes, maxBytes] = [valueOf('used_memory'), valueOf('maxmemory')]
  return usedBytes === undefined || maxBytes === undefined ? undefined : { usedBytes, maxBytes }
}

/** The node that will refuse writes first. A node without a limit sorts before all others. */
export function fullestOf(nodes: readonly RedisMemory[]): RedisMemory | undefined {
  const shareOf = ({ usedBytes, maxBytes }: RedisMemory): number => usedBytes / maxBytes
  return nodes.toSorted((a, b) => shareOf(b) - shareOf(a))[0]
}
