import { cp, rename, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { eventually } from '@switchhook/testkit'
import { closeConnection, deleteEmptyQueue, isConsumed } from './broker-management.ts'
import type { ChaosStack } from './chaos-stack.ts'
import type { Lapse } from './observation.ts'
import { type Fault, REPLICAS } from './plan.ts'
import { setMaxmemory } from './redis-memory.ts'
import type { Subscribers } from './subscribers.ts'

/** A fault that struck, and the recovery from it. Times in ms since 1970. */
export interface Strike {
  readonly fault: Fault
  readonly fromMs: number
  readonly toMs: number
  /** Why the fault could not be applied here; undefined if it was applied. */
  readonly skipped: string | undefined
  /** Every service was ready, and a new event arrived at its endpoint. */
  readonly hasRecovered: boolean
  /** The writes to Redis that it undid. */
  readonly lapse: Lapse | undefined
}

/** What faults strike. */
export interface Struck {
  readonly stack: ChaosStack
  readonly subscribers: Pick<Subscribers, 'guest' | 'rotate' | 'exhaust'>
  readonly newEventArrives: () => Promise<void>
}

/** What applying a fault did. */
interface Applied {
  readonly skipped?: string
  readonly lapse?: Lapse
}

const RECOVERS_WITHIN_MS = 90_000

const PARTS: readonly string[] = [
  'rabbitmq',
  'redis',
  ...Object.entries(REPLICAS).flatMap(([service, count]) =>
    Array.from({ length: count }, (_, n) => `${service}-${n + 1}`),
  ),
]

/** Applies a fault, undoes it, and resolves when all services are ready and a new event arrives at its endpoint. */
export async function strike(struck: Struck, fault: Fault): Promise<Strike> {
  const fromMs = Date.now()
  const { skipped, lapse } = await apply(struck, fault)
  const hasRecovered = await recovers(struck)
  return { fault, fromMs, toMs: Date.now(), skipped, hasRecovered, lapse }
}

async function apply({ stack, subscribers }: Struck, fault: Fault): Promise<Applied> {
  switch (fault.kind) {
    case 'kill':
    case 'stop': {
      const ran = await stack.end(fault.target, fault.kind === 'kill' ? 'SIGKILL' : 'SIGTERM')
      await stack.restore(fault.target)
      return ran ? {} : OUT_OF_REACH
    }
    case 'blackout': {
      const ran = await Promise.all(PARTS.map((name) => stack.end(name, 'SIGKILL')))
      await stack.restore('rabbitmq')
      await stack.restore('api-1')
      return ran.every(Boolean) ? {} : OUT_OF_REACH
    }
    case 'cut':
      stack.wires[fault.target].cut()
      return {}
    case 'freeze': {
      const wire = stack.wires[fault.target]
      wire.freeze()
      await sleep(fault.forMs)
      wire.thaw()
      return {}
    }
    case 'alarm':
      return raiseAlarm(stack, fault.forMs)
    case 'disconnect':
      return whileBrokerAnswers(() => closeConnection(stack.managementUrl(), fault.pick), 'no connection is listed')
    case 'cancel':
      return cancelConsumers(stack, fault.target)
    case 'full':
      return fillRedis(stack, fault.forMs)
    case 'rollback':
      return rollRedisBack(stack, fault.ageMs)
    case 'empty':
      return emptyRedis(stack, fault.forMs)
    case 'clock':
      return shiftClock(stack, fault)
    case 'rotate': {
      const isRotated = await subscribers.rotate(fault.target, fault.overlapSeconds)
      return isRotated ? {} : { skipped: 'too many former secrets still sign' }
    }
    case 'patch':
      await subscribers.guest.patch(fault.change, fault.forMs)
      return {}
    case 'delete':
      await subscribers.guest.replace()
      return {}
    case 'exhaust':
      return subscribers.exhaust() ? {} : { skipped: 'the endpoint is away already' }
  }
}

const OUT_OF_REACH: Applied = { skipped: 'the process is out of reach' }

/** A fault that overlaps may have taken the broker away. */
async function whileBrokerAnswers(act: () => Promise<boolean>, why: string): Promise<Applied> {
  const isDone = await act().catch(() => undefined)
  if (isDone === undefined) return { skipped: 'the broker did not answer' }
  return isDone ? {} : { skipped: why }
}

/**
 * RabbitMQ 3.10 was once seen to answer 541 to every consumer of a quorum queue that had been declared within a second before a
 * `kill -9` of the broker. Deleting queues is no operation of Switchhook, so the next fault waits until the queue is safe.
 */
const QUEUE_IS_SAFE_AFTER_MS = 3_000

async function cancelConsumers(stack: ChaosStack, queue: string): Promise<Applied> {
  const applied = await whileBrokerAnswers(
    () => deleteEmptyQueue(stack.managementUrl(), queue),
    'the queue is not empty',
  )
  if (applied.skipped !== undefined) return applied
  await eventually(
    async () => {
      if (!(await isConsumed(stack.managementUrl(), queue))) throw new Error(`${queue} has no consumer`)
    },
    { timeoutMs: RECOVERS_WITHIN_MS, intervalMs: 200 },
  )
  await sleep(QUEUE_IS_SAFE_AFTER_MS)
  return applied
}

/** Any limit that is in use already. */
const ONE_BYTE = '1'

async function fillRedis(stack: ChaosStack, forMs: number): Promise<Applied> {
  const before = await setMaxmemory(stack.redisUrl(), ONE_BYTE).catch(() => undefined)
  if (before === undefined) return { skipped: 'Redis did not answer' }
  await sleep(forMs)
  // A Redis that was killed meanwhile has the old limit again, but may not answer yet.
  await eventually(() => setMaxmemory(stack.redisUrl(), before), { timeoutMs: 60_000, intervalMs: 200 })
  return {}
}

async function rollRedisBack(stack: ChaosStack, ageMs: number): Promise<Applied> {
  const folder = stack.redisFolder
  if (folder === undefined) return { skipped: "Redis' folder is out of reach" }
  const copy = `${folder}.copy`
  // The log is append-only: whatever its last lines are, a copy of it is what a crash at that moment would have left.
  const fromMs = Date.now()
  await cp(folder, copy, { recursive: true })
  await sleep(ageMs)
  if (!(await stack.end('redis', 'SIGKILL'))) return OUT_OF_REACH
  await rm(folder, { recursive: true })
  await rename(copy, folder)
  await stack.restore('redis')
  return { lapse: { kind: 'rolled back', fromMs, toMs: Date.now() } }
}

async function emptyRedis(stack: ChaosStack, forMs: number): Promise<Applied> {
  const folder = stack.redisFolder
  if (folder === undefined) return { skipped: "Redis' folder is out of reach" }
  const copy = `${folder}.copy`
  if (!(await stack.end('redis', 'SIGKILL'))) return OUT_OF_REACH
  const fromMs = Date.now()
  await rename(folder, copy)
  await stack.restore('redis')
  await sleep(forMs)
  await stack.end('redis', 'SIGKILL')
  await rm(folder, { recursive: true })
  await rename(copy, folder)
  await stack.restore('redis')
  return { lapse: { kind: 'empty', fromMs, toMs: Date.now() } }
}

const SHIFTED_CLOCK = pathToFileURL(new URL('shifted-clock.js', import.meta.url).pathname).href

async function shiftClock(
  stack: ChaosStack,
  { target, shiftMs, forMs }: Extract<Fault, { readonly kind: 'clock' }>,
): Promise<Applied> {
  if (!(await stack.end(target, 'SIGTERM'))) return OUT_OF_REACH
  await stack.restore(target, { NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`, CHAOS_CLOCK_SHIFT_MS: String(shiftMs) })
  await sleep(forMs)
  await stack.end(target, 'SIGTERM')
  await stack.restore(target)
  return {}
}

const setWatermark = (...value: string[]): readonly string[] => ['set_vm_memory_high_watermark', ...value]

async function raiseAlarm({ rabbitmqctl }: ChaosStack, forMs: number): Promise<Applied> {
  if (rabbitmqctl === undefined) return { skipped: 'rabbitmqctl is out of reach' }
  if (!(await rabbitmqctl(setWatermark('absolute', '1')))) return { skipped: 'the broker took no command' }
  await sleep(forMs)
  // A broker that was killed meanwhile has no alarm any more, but may take no commands yet.
  await eventually(
    async () => {
      if (!(await rabbitmqctl(setWatermark('0.4')))) throw new Error('the alarm cannot be ended')
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  )
  return {}
}

async function recovers({ stack, newEventArrives }: Struck): Promise<boolean> {
  const late = new AbortController()
  const tooLate = sleep(RECOVERS_WITHIN_MS, false, { signal: late.signal }).catch(() => false)
  const isWell = async (): Promise<boolean> => {
    await newEventArrives()
    return eventually(
      async () => {
        const names = await stack.notReady()
        if (names.length > 0) throw new Error(`not ready: ${names.join(', ')}`)
        return true
      },
      { timeoutMs: RECOVERS_WITHIN_MS },
    )
  }
  try {
    return await Promise.race([isWell().catch(() => false), tooLate])
  } finally {
    late.abort()
  }
}
