import type { Redis } from './redis.ts'

/** The settings of Redis that decide what it may lose. */
export const DURABILITY_SETTINGS = ['appendonly', 'appendfsync', 'maxmemory-policy'] as const

export type DurabilitySettings = { readonly [Name in (typeof DURABILITY_SETTINGS)[number]]?: string | undefined }

/** One sentence for each setting that lets Redis lose what it was given; an unknown one is no problem. */
export function problemsOf(settings: DurabilitySettings): string[] {
  const eviction = settings['maxmemory-policy']
  return [
    settings.appendonly === 'no' && 'it must keep an append-only file (appendonly yes)',
    settings.appendfsync === 'no' && 'it must sync that file by itself (appendfsync always or everysec)',
    eviction !== undefined && eviction !== 'noeviction' && 'it must not evict keys (maxmemory-policy noeviction)',
  ].filter((problem) => problem !== false)
}

/**
 * Stops the start of a service in production whose Redis would lose what it must keep.
 * @throws Error that names every problem
 */
export async function assertDurableInProduction(
  redis: Pick<Redis, 'durabilityProblems'>,
  nodeEnv: string,
): Promise<void> {
  if (nodeEnv !== 'production') return
  const problems = await redis.durabilityProblems()
  if (problems.length > 0) throw new Error(`this Redis would lose data: ${problems.join('; ')}`)
}
