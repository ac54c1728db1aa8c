import { DEFAULT_RETRY_WAITS, INSTALLATION_HEADER, type InstallationId, isGuid } from '@switchhook/contracts'
import {
  backlogQueues,
  LANES,
  laneQueues,
  MAX_SHARDS,
  Queue,
  type QueueSample,
  sampleQueues,
  serviceTopology,
} from '@switchhook/messaging'
import {
  amqpAddress,
  amqpFields,
  commonRules,
  duration,
  durations,
  loadConfig,
  redisFields,
  startFields,
  startRules,
} from '@switchhook/runtime'
import { parseCommandLine, runCommandLine, withRedis } from '@switchhook/service'
import { createInstallationStore, type InstallationStore, type Ruling } from '@switchhook/store'

export type InstallationCommand =
  | { readonly name: 'show'; readonly limit: number }
  | { readonly name: 'adopt' | 'discard'; readonly id: InstallationId }

const USAGE = `usage: node installation.js show [--limit N]   print the installation ids in Redis and in the first N messages of each queue; default 5
       node installation.js adopt <id>         accept the messages of this installation
       node installation.js discard <id>       move the messages of this installation to quarantine
The variables AMQP_… and REDIS_… name the broker and the Redis, as for the services; DELIVERY_RETRY_WAITS and BREAKER_COOLDOWN name the wait queues, as for the workers.`

const DEFAULT_LIMIT = 5

export const parseCommand = (args: readonly string[]): InstallationCommand =>
  parseCommandLine(args, ([name, id, ...rest], limit): InstallationCommand => {
    if (rest.length > 0) throw new Error(`unexpected argument: ${rest[0]}`)
    if (name === 'show' && id === undefined) return { name, limit: limit(DEFAULT_LIMIT) }
    if (name !== 'adopt' && name !== 'discard') throw new Error('expected show, adopt or discard')
    if (!isGuid(id)) throw new Error(`${name} needs the id of an installation, which is a GUID`)
    return { name, id: id.toLowerCase() as InstallationId }
  })

export interface InstallationCommandDeps {
  readonly installation: InstallationStore
  /** Leaves out queues that do not exist. */
  readonly sample: (queues: readonly string[], limit: number) => Promise<readonly QueueSample[]>
  readonly waitsMs: readonly number[]
}

/**
 * Resolves to the lines to print.
 * @throws Error with the reason if the command is refused
 */
export async function runCommand(command: InstallationCommand, deps: InstallationCommandDeps): Promise<string[]> {
  if (command.name === 'show') return await showIds(command.limit, deps)
  const stored = await deps.installation.read()
  if (command.name === 'discard') {
    if (stored === undefined) throw new Error('Redis holds no installation. Restore its data, or adopt an id first.')
    if (stored.id === command.id) throw new Error('Redis itself holds this installation, so it cannot be discarded.')
  }
  if (stored === undefined) await deps.installation.establish(command.id)
  else if (stored.id !== command.id) await deps.installation.decide(command.id, RULINGS[command.name])
  const redis = (await deps.installation.read())?.id ?? null
  return [JSON.stringify({ [RULINGS[command.name]]: command.id, redis })]
}

const RULINGS: Readonly<Record<'adopt' | 'discard', Ruling>> = { adopt: 'adopted', discard: 'discarded' }

const ofEvents = (queue: string): number => Number(queue.startsWith('fanout.'))

async function showIds(limit: number, { installation, sample, waitsMs }: InstallationCommandDeps): Promise<string[]> {
  const stored = await installation.read()
  const rulings = [...(stored?.rulings ?? [])]
  const withRuling = (wanted: Ruling) => rulings.filter(([, ruling]) => ruling === wanted).map(([id]) => id)
  const shards = { deliveryShards: MAX_SHARDS, eventShards: MAX_SHARDS }
  const declared = serviceTopology(waitsMs, { ...shards, others: [...laneQueues(LANES), ...backlogQueues] })
  // Every queue whose messages carry an id. Those of events first: one that becomes deliveries during the look is not missed.
  const queues = Object.keys(declared.queues)
    .filter((name) => name !== Queue.quarantine)
    .toSorted((a, b) => ofEvents(b) - ofEvents(a))
  const samples = await sample(queues, limit)
  return [
    {
      redis: stored?.id ?? null,
      createdAt: stored === undefined ? null : new Date(stored.createdAtMs).toISOString(),
      adopted: withRuling('adopted'),
      discarded: withRuling('discarded'),
    },
    ...samples.filter(({ messages }) => messages > 0).map(describe),
  ].map((line) => JSON.stringify(line))
}

function describe({ queue, messages, headers }: QueueSample): object {
  const byId = Map.groupBy(headers, ({ [INSTALLATION_HEADER]: id }) => (typeof id === 'string' ? id : 'none'))
  const installations = Object.fromEntries([...byId].map(([id, { length }]) => [id, length]))
  return { queue, messages, looked: headers.length, installations }
}

const NAME = 'installation command'

/** `node dist/installation.js`, in the fan-out image: shows installation ids, and decides about messages of another installation. */
export const runInstallation = (args: readonly string[]): void =>
  runCommandLine(args, USAGE, parseCommand, async (command, print) => {
    const config = loadConfig(
      {
        ...amqpFields,
        ...redisFields,
        ...startFields,
        // With the workers' defaults.
        DELIVERY_RETRY_WAITS: durations(DEFAULT_RETRY_WAITS),
        BREAKER_COOLDOWN: duration('30s', { minMs: 1 }),
      },
      process.env,
      [...commonRules, ...startRules],
    )
    await withRedis(NAME, config, async (redis) => {
      const lines = await runCommand(command, {
        installation: createInstallationStore(redis),
        sample: (queues, limit) => sampleQueues({ ...amqpAddress(config), name: NAME, queues, limit }),
        waitsMs: [...config.DELIVERY_RETRY_WAITS, config.BREAKER_COOLDOWN],
      })
      for (const line of lines) print(line)
    })
  })
