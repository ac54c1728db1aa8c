import type { Logger } from '@switchhook/runtime'
import { isReply } from './replies.ts'

/** The settings of a Redis server that decide which data it can lose. undefined: Redis does not show it. */
export type DurabilitySettings = Awaited<ReturnType<typeof readSettings>>

/** `checked`: the settings must show that Redis keeps its data. `attested`: the operator promises it. */
export type DurabilityRule = 'checked' | 'attested'

interface Server {
  config(command: 'GET', name: string): Promise<unknown>
  info(section: 'memory'): Promise<string>
}

/** Managed servers refuse CONFIG, but most show the eviction policy in INFO. */
export async function readSettings(server: Server) {
  const [appendOnly, appendFsync, evictionPolicy, shownPolicy] = await Promise.all([
    configOf(server, 'appendonly'),
    configOf(server, 'appendfsync'),
    configOf(server, 'maxmemory-policy'),
    server.info('memory').then(policyIn, unlessRefused),
  ])
  return { appendOnly, appendFsync, evictionPolicy: evictionPolicy ?? shownPolicy }
}

const configOf = (server: Server, name: string): Promise<string | undefined> =>
  server.config('GET', name).then((answer) => (answer as (string | undefined)[])[1], unlessRefused)

const policyIn = (info: string): string | undefined => /^maxmemory_policy:([\w-]+)\r?$/m.exec(info)?.[1]

/** An answer of Redis, such as an unknown or forbidden command, hides the setting. Any other error means no answer. */
function unlessRefused(error: unknown): undefined {
  if (!isReply(error)) throw error
}

/** One sentence per reason why Redis must not be used. */
export function problemsOf(settings: DurabilitySettings, rule: DurabilityRule): string[] {
  const { appendOnly, appendFsync, evictionPolicy } = settings
  const wrong = [
    appendOnly === 'no' && 'it must keep an append-only file (appendonly yes)',
    appendFsync === 'no' && 'it must sync that file itself (appendfsync always or everysec)',
  ]
  const isHidden = [appendOnly, appendFsync, evictionPolicy].includes(undefined)
  return [
    // A managed server may replace the append-only file by another durable log, so the operator's word counts.
    ...(rule === 'checked' ? wrong : []),
    evictionPolicy !== undefined &&
      evictionPolicy !== 'noeviction' &&
      'it must not evict keys (maxmemory-policy noeviction)',
    rule === 'checked' &&
      isHidden &&
      'it does not show its settings (CONFIG GET is refused); if it keeps every write that it has answered, set REDIS_DURABILITY=attested',
  ].filter((problem) => problem !== false)
}

/** Keeps a service from starting in production on a Redis that can lose data. @throws Error that names every problem */
export async function assertDurable(
  redis: { readonly durabilitySettings: () => Promise<readonly DurabilitySettings[]> },
  { nodeEnv, rule, log }: { nodeEnv: string; rule: DurabilityRule; log: Pick<Logger, 'warn'> },
): Promise<void> {
  if (nodeEnv !== 'production') return
  const primaries = await redis.durabilitySettings()
  const problems = new Set(primaries.flatMap((settings) => problemsOf(settings, rule)))
  if (problems.size > 0) throw new Error(`this Redis would lose data: ${[...problems].join('; ')}`)
  if (rule === 'attested') {
    log.warn(
      'Redis was not checked: REDIS_DURABILITY=attested is the promise of the operator that Redis keeps every write that it has answered, through a crash and a failover, and evicts nothing',
      { shown: primaries },
    )
  } else if (primaries.some(({ appendFsync }) => appendFsync === 'everysec')) {
    log.warn('Redis can lose the last second of answered writes in a crash; set appendfsync always')
  }
}

export type RedisMemory = NonNullable<ReturnType<typeof parseMemory>>

/** Parses the reply to INFO memory; undefined: a managed server hides the figures. @returns `maxBytes` 0: no limit */
export function parseMemory(info: string) {
  const valueOf = (name: string): number | undefined => {
    const digits = new RegExp(`^${name}:(\\d+)\\r?$`, 'm').exec(info)?.[1]
    return digits === undefined ? undefined : Number(digits)
  }
  const [usedBytes, maxBytes] = [valueOf('used_memory'), valueOf('maxmemory')]
  return usedBytes === undefined || maxBytes === undefined ? undefined : { usedBytes, maxBytes }
}

/** The node that will refuse writes first. The fullness of one without a limit is infinite. */
export function fullestOf(nodes: readonly RedisMemory[]): RedisMemory | undefined {
  const fullnessOf = ({ usedBytes, maxBytes }: RedisMemory): number => usedBytes / maxBytes
  return nodes.toSorted((a, b) => fullnessOf(b) - fullnessOf(a))[0]
}
