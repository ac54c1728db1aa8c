import { cp, rename, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Queue } from '@switchhook/messaging'
import { answerWithin, MAX_EVENT_SKEW_MS } from '@switchhook/runtime'
import { waitUntil } from '@switchhook/test-servers'
import { eventually } from '@switchhook/testkit'
import { everyServiceIsReady, type Load } from '../load/start-load.ts'
import type { Lapse } from '../reconcile/observation.ts'
import { closeConnection, countConsumers, countHeldPackets, deleteQueue } from '../stack/broker-management.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { refuseCommands, serveCommands, setMaxmemory } from '../stack/redis-refusals.ts'
import { CHANGES } from '../subscribers/behaviour.ts'
import { type Backing, type Fault, type FaultKind, type FaultOf, killsWorker, REPLICAS, type Service } from './plan.ts'

/** One fault that was injected, and the recovery from it. Times in ms since 1970. */
export interface Injection {
  readonly fault: Fault
  readonly fromMs: number
  readonly toMs: number
  /** Why the fault could not be applied; undefined if it was applied. */
  readonly skipped: string | undefined
  /** In the end every service was ready and a new event was delivered. */
  readonly hasRecovered: boolean
  /** The writes to Redis that the fault lost. */
  readonly lapse: Lapse | undefined
  /** Packets that workers held when one of them was killed. */
  readonly heldPackets: number
}

/** The parts of a run that faults act on. */
export interface Targets {
  readonly stack: ChaosStack
  readonly load: Load
}

type Applied = Partial<Pick<Injection, 'skipped' | 'lapse' | 'heldPackets'>>
/** Applies a fault and undoes it. Nothing: it was applied. */
type Apply<Of> = (targets: Targets, fault: Of) => Applied | void | Promise<Applied | void>

const RECOVERS_WITHIN_MS = 90_000

const replicasOf = (service: Service): readonly string[] =>
  Array.from({ length: REPLICAS[service] }, (_, n) => `${service}-${n + 1}`)

const PARTS: readonly string[] = [
  'rabbitmq',
  'redis',
  ...(['api', 'fanout', 'delivery-worker'] as const).flatMap(replicasOf),
]

/** Applies a fault, undoes it, and resolves when all services are ready and a new event was delivered. */
export async function inject(targets: Targets, fault: Fault): Promise<Injection> {
  const fromMs = Date.now()
  // The kind ties the fault to its function, which the compiler cannot see for a union.
  const apply = FAULTS[fault.kind] as Apply<Fault>
  const { skipped, lapse, heldPackets = 0 } = (await apply(targets, fault)) ?? {}
  const hasRecovered = await recovers(targets)
  return { fault, fromMs, toMs: Date.now(), skipped, hasRecovered, lapse, heldPackets }
}

const FAULTS: { readonly [Kind in FaultKind]: Apply<FaultOf<Kind>> } = {
  kill: endAndRestore,
  stop: endAndRestore,
  blackout: async ({ stack }) => {
    const ran = await Promise.all(PARTS.map((name) => stack.end(name, 'SIGKILL')))
    await stack.restore('rabbitmq')
    await stack.restore('api-1')
    // What ran is dead, even if something else could not be killed.
    return ran.some(Boolean) ? {} : OUT_OF_REACH
  },
  cut: ({ stack }, { target }) => stack.proxies[target].cut(),
  freeze: freezeConnections,
  outage: takeAway,
  alarm: raiseAlarm,
  disconnect: ({ stack }, { pick }) =>
    whileBrokerAnswers(() => closeConnection(stack.managementUrl(), pick), 'no connection is listed'),
  cancel: cancelConsumers,
  full: fillRedis,
  refuse: async ({ stack }, { error, forMs }) => {
    const isRefused = await refuseCommands(stack.redisUrl(), error).then(
      () => true,
      () => false,
    )
    await sleep(forMs)
    await eventually(() => serveCommands(stack.redisUrl()), { timeoutMs: 60_000, intervalMs: 200 })
    return isRefused ? {} : { skipped: 'Redis did not answer' }
  },
  rollback: loseWrites,
  empty: loseWrites,
  clock: shiftClock,
  rotate: async ({ load }, { target, overlapSeconds }) => {
    const isRotated = await load.subscribers.at(target).rotate(overlapSeconds)
    return isRotated ? {} : { skipped: 'too many previous secrets are still active' }
  },
  patch: ({ load }, { target, change, forMs }) => load.subscribers.at(target).changeFor(CHANGES[change], forMs),
  pause: ({ load }, { target, change, forMs }) => load.subscribers.at(target).changeFor(CHANGES[change], forMs),
  delete: ({ load }) => load.subscribers.replaceGuest(),
  exhaust: ({ load }) => (load.subscribers.exhaust() ? {} : { skipped: 'the endpoint is already down' }),
  burst: ({ load }, { events }) => load.events.burst(events),
}

async function freezeConnections(
  { stack: { proxies } }: Pick<Targets, 'stack'>,
  { target, forMs }: { readonly target: Backing; readonly forMs: number },
): Promise<void> {
  proxies[target].freeze()
  await sleep(forMs)
  proxies[target].thaw()
}

/** Suspends every replica of a service, or freezes the connections to the broker or Redis. Replicas that do not exist are left out. */
export async function takeAway(
  { stack }: Pick<Targets, 'stack'>,
  { target, forMs }: Pick<FaultOf<'outage'>, 'target' | 'forMs'>,
): Promise<Applied | void> {
  if (target === 'rabbitmq' || target === 'redis') return freezeConnections({ stack }, { target, forMs })
  const signalAll = (signal: 'SIGSTOP' | 'SIGCONT'): Promise<boolean[]> =>
    Promise.all(replicasOf(target).map((name) => stack.signal(name, signal)))
  const suspended = await signalAll('SIGSTOP')
  await sleep(forMs)
  await signalAll('SIGCONT')
  return suspended.some(Boolean) ? {} : OUT_OF_REACH
}

async function endAndRestore({ stack }: Targets, fault: FaultOf<'kill'> | FaultOf<'stop'>): Promise<Applied> {
  const heldPackets = killsWorker(fault) ? await countHeldPackets(stack.managementUrl()).catch(() => 0) : 0
  const ran = await stack.end(fault.target, fault.kind === 'kill' ? 'SIGKILL' : 'SIGTERM')
  await stack.restore(fault.target)
  return ran ? { heldPackets } : OUT_OF_REACH
}

const OUT_OF_REACH: Applied = { skipped: 'the process is not running or cannot be killed' }

/** An overlapping fault may have taken the broker down. */
async function whileBrokerAnswers(act: () => Promise<boolean>, why: string): Promise<Applied> {
  const isDone = await act().catch(() => undefined)
  if (isDone === undefined) return { skipped: 'the broker did not answer' }
  return isDone ? {} : { skipped: why }
}

/**
 * RabbitMQ 3.10 once answered 541 to every consumer of a quorum queue that had been declared less than a second before a
 * `kill -9` of the broker. Switchhook never deletes queues, so the next fault waits until the new queue is durable.
 */
const QUEUE_IS_SAFE_AFTER_MS = 3_000

/** The broker refreshes its message counts once a second. */
const COUNTED_AFTER_MS = 2_000
const EMPTIES_WITHIN_MS = 30_000

async function cancelConsumers({ stack }: Targets, { target: queue }: FaultOf<'cancel'>): Promise<Applied> {
  const publishers = queue === Queue.deliveryPackets ? replicasOf('fanout') : []
  await Promise.all(publishers.map((name) => stack.end(name, 'SIGTERM')))
  await sleep(COUNTED_AFTER_MS)
  const most = queue === Queue.reportedOutcomes ? Infinity : 0
  const applied = await whileBrokerAnswers(
    () => waitUntil(() => deleteQueue(stack.managementUrl(), queue, most), EMPTIES_WITHIN_MS, 200),
    'the queue did not become empty',
  )
  if (publishers.length > 0) await stack.restore(publishers[0] ?? '')
  if (applied.skipped !== undefined) return applied
  const workers = REPLICAS['delivery-worker']
  const isConsumed = async (): Promise<boolean> =>
    (await countConsumers(stack.managementUrl(), queue).catch(() => 0)) === workers
  if (!(await waitUntil(isConsumed, RECOVERS_WITHIN_MS, 200))) throw new Error(`${queue} has not ${workers} consumers`)
  await sleep(QUEUE_IS_SAFE_AFTER_MS)
  return applied
}

/** A limit below the present use, so that Redis refuses every write that needs memory. */
const ONE_BYTE = '1'

async function fillRedis({ stack }: Targets, { forMs }: FaultOf<'full'>): Promise<Applied | void> {
  const before = await setMaxmemory(stack.redisUrl(), ONE_BYTE).catch(() => undefined)
  if (before === undefined) return { skipped: 'Redis did not answer' }
  await sleep(forMs)
  // If an overlapping fault killed Redis, it has the old limit again but may not answer yet.
  await eventually(() => setMaxmemory(stack.redisUrl(), before), { timeoutMs: 60_000, intervalMs: 200 })
}

/** Restores the folder of Redis from a copy: an older one, or the present one after Redis ran without data. */
async function loseWrites({ stack }: Targets, fault: FaultOf<'rollback'> | FaultOf<'empty'>): Promise<Applied> {
  const folder = stack.redisFolder
  if (folder === undefined) return { skipped: 'the data folder of Redis is not accessible' }
  const copy = `${folder}.copy`
  let fromMs = Date.now()
  if (fault.kind === 'rollback') {
    // The log is append-only, so the copy equals what a crash at that moment would have left.
    await cp(folder, copy, { recursive: true })
    await sleep(fault.ageMs)
  }
  if (!(await stack.end('redis', 'SIGKILL'))) return OUT_OF_REACH
  if (fault.kind === 'empty') {
    fromMs = Date.now()
    await rename(folder, copy)
    await stack.restore('redis')
    await sleep(fault.forMs)
    await stack.end('redis', 'SIGKILL')
  }
  await rm(folder, { recursive: true })
  await rename(copy, folder)
  await stack.restore('redis')
  return { lapse: { kind: fault.kind === 'rollback' ? 'rolled back' : 'empty', fromMs, toMs: Date.now() } }
}

const SHIFTED_CLOCK = pathToFileURL(new URL('shifted-clock.js', import.meta.url).pathname).href

async function shiftClock({ stack }: Targets, { target, shiftMs, forMs }: FaultOf<'clock'>): Promise<Applied | void> {
  if (!(await stack.end(target, 'SIGTERM'))) return OUT_OF_REACH
  await stack.restore(target, { NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`, CHAOS_CLOCK_SHIFT_MS: String(shiftMs) })
  await sleep(forMs)
  await stack.end(target, 'SIGTERM')
  await stack.restore(target)
  // The reconciliation compares event times with the losses of later faults.
  if (target.startsWith('api') && shiftMs > 0) await sleep(MAX_EVENT_SKEW_MS)
}

const setWatermark = (...value: string[]): readonly string[] => ['set_vm_memory_high_watermark', ...value]

async function raiseAlarm({ stack }: Targets, { forMs }: FaultOf<'alarm'>): Promise<Applied | void> {
  const { rabbitmqctl } = stack
  if (rabbitmqctl === undefined) return { skipped: 'rabbitmqctl is not available' }
  if (!(await rabbitmqctl(setWatermark('absolute', '1')))) return { skipped: 'rabbitmqctl failed' }
  await sleep(forMs)
  // If an overlapping fault killed the broker, the alarm is gone but rabbitmqctl may not work yet.
  const isCleared = await waitUntil(() => rabbitmqctl(setWatermark('0.4')), 60_000, 500)
  if (!isCleared) throw new Error('the memory alarm could not be cleared')
}

function recovers({ stack, load }: Targets): Promise<boolean> {
  const isWell = load.newEventArrives().then(() => everyServiceIsReady(stack, RECOVERS_WITHIN_MS))
  return answerWithin(RECOVERS_WITHIN_MS, isWell, 'not recovered in time').then(
    () => true,
    () => false,
  )
}
