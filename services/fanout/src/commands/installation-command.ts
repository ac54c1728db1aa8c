import { parseArgs } from 'node:util'
import { INSTALLATION_HEADER, type InstallationId, isGuid } from '@switchhook/contracts'
import { dueQueues, laneQueues, Queue, type QueueSample, waitQueue } from '@switchhook/messaging'
import type { InstallationStore, Verdict } from '@switchhook/store'

export type InstallationCommand =
  | { readonly name: 'show'; readonly limit: number }
  | { readonly name: 'adopt' | 'discard'; readonly id: InstallationId }
  | { readonly name: 'help'; readonly problem?: string }

export const USAGE = `usage: node installation.js show [--limit N]   print the ids that Redis and the queues hold; looks at N messages per queue, default 5
       node installation.js adopt <id>         handle the messages of this installation as our own
       node installation.js discard <id>       let consumers move the messages of this installation to quarantine
AMQP_URL and REDIS_URL name the broker and the Redis; DELIVERY_RETRY_WAITS and BREAKER_COOLDOWN name the wait queues, as for the workers.`

const DEFAULT_LIMIT = 5
/** The largest DELIVERY_SHARDS, and the lanes of a worker. */
const MOST_SHARDS = 64
const LANES = 16

export function parseCommand(args: readonly string[]): InstallationCommand {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { limit: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) return { name: 'help' }
    const [name, id, ...rest] = positionals
    if (rest.length > 0) return { name: 'help', problem: `unexpected argument: ${rest[0]}` }
    if (name === 'show' && id === undefined) return show(values.limit)
    if (name !== 'adopt' && name !== 'discard') return { name: 'help', problem: 'expected show, adopt or discard' }
    if (!isGuid(id)) return { name: 'help', problem: `${name} needs the id of an installation, which is a GUID` }
    return { name, id: id.toLowerCase() as InstallationId }
  } catch (error) {
    return { name: 'help', problem: error instanceof Error ? error.message : String(error) }
  }
}

function show(given: string | undefined): InstallationCommand {
  const limit = Number(given ?? DEFAULT_LIMIT)
  return Number.isSafeInteger(limit) && limit >= 1
    ? { name: 'show', limit }
    : { name: 'help', problem: '--limit must be a number from 1' }
}

export interface InstallationCommandDeps {
  readonly installation: InstallationStore
  /** Queues that do not exist are missing in the result. */
  readonly sample: (queues: readonly string[], limit: number) => Promise<readonly QueueSample[]>
  readonly waitsMs: readonly number[]
  readonly now: () => number
}

type Deed = Exclude<InstallationCommand, { name: 'help' }>

/**
 * Resolves to the lines to print.
 * @throws Error with the reason if the command must not be carried out
 */
export async function runCommand(command: Deed, deps: InstallationCommandDeps): Promise<string[]> {
  if (command.name === 'show') return await showIds(command.limit, deps)
  const stored = await deps.installation.read()
  if (command.name === 'discard') {
    if (stored === undefined) throw new Error('Redis holds no installation. Restore its data, or adopt an id first.')
    if (stored.id === command.id) throw new Error('Redis itself holds this installation, so it cannot be discarded.')
  }
  if (stored === undefined) await deps.installation.establish({ id: command.id, createdAtMs: deps.now() })
  else if (stored.id !== command.id) await deps.installation.decide(command.id, VERDICTS[command.name])
  const redis = (await deps.installation.read())?.id ?? null
  return [JSON.stringify({ [VERDICTS[command.name]]: command.id, redis })]
}

const VERDICTS: Readonly<Record<'adopt' | 'discard', Verdict>> = { adopt: 'adopted', discard: 'discarded' }

async function showIds(limit: number, { installation, sample, waitsMs }: InstallationCommandDeps): Promise<string[]> {
  const stored = await installation.read()
  const verdicts = [...(stored?.verdicts ?? [])]
  const withVerdict = (wanted: Verdict) => verdicts.filter(([, verdict]) => verdict === wanted).map(([id]) => id)
  const queues = [
    Queue.fanoutEvents,
    Queue.receiverChecks,
    ...dueQueues(MOST_SHARDS),
    ...laneQueues(LANES),
    ...[...new Set(waitsMs)].map(waitQueue),
  ]
  const samples = await sample(queues, limit)
  return [
    {
      redis: stored?.id ?? null,
      createdAt: stored === undefined ? null : new Date(stored.createdAtMs).toISOString(),
      adopted: withVerdict('adopted'),
      discarded: withVerdict('discarded'),
    },
    ...samples.filter(({ messages }) => messages > 0).map(describe),
  ].map((line) => JSON.stringify(line))
}

function describe({ queue, messages, headers }: QueueSample): object {
  const installations: Record<string, number> = {}
  for (const { [INSTALLATION_HEADER]: header } of headers) {
    const id = typeof header === 'string' ? header : 'none'
    installations[id] = (installations[id] ?? 0) + 1
  }
  return { queue, messages, looked: headers.length, installations }
}
