import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import type { StackFile } from '@switchhook/local'
import { openHome, stopDaemon } from '@switchhook/test-servers'
import type { ConfirmChannel } from 'amqplib'
import type { Bench } from '../bench.ts'
import { callData, openChannel, publishEvent } from '../load/events.ts'
import { openPopulation, type Population } from '../load/population.ts'
import { timePosts } from '../load/time-posts.ts'
import { residentMib } from '../measure/process-usage.ts'
import { type CostUs, createMeter } from '../measure/processor-cost.ts'
import { round } from '../measure/statistics.ts'
import { type Child, startChild } from '../processes/child.ts'
import { pidsOf } from './stack-pids.ts'

/** The usual number of worker processes, and of subscriptions while something else varies. */
const WORKERS = 2
const SUBSCRIPTIONS = 1_000
const WARM_UP_ROUNDS = 3
const WARM_UP_DELIVERIES = 4_000

/** One point of a curve. */
export interface CostPoint {
  /** The quantity that varies: subscriptions, waiting deliveries or workers. */
  readonly at: number
  readonly perSecond: number
  /** Processor time of a delivery by process, in µs. */
  readonly costUs: CostUs
  /** Resident memory of each part at the end, in MiB. */
  readonly memoryMib: Readonly<Record<string, number>>
  /** Idle share of the machine's processor time; null if the system does not report it. */
  readonly idle: number | null
}

type CurveName = 'subscriptions' | 'waiting' | 'workers'

/**
 * Cost of a delivery, one per event, while one quantity grows and the others stay. Each subscription has a tenant of its
 * own, and the events take turns among the tenants: with many of them, nothing that a process remembers is used twice.
 */
export async function measureCost(bench: Bench) {
  const { stack, say, options, defer } = bench
  const { COST_SUBSCRIPTIONS: sizes, COST_WAITING: backlogs, COST_WORKERS: teams, RUN_TIME: runMs } = options
  const receiver = await startChild('receiver-server.js')
  defer(() => receiver.stop())
  const population = await openPopulation(stack, `http://127.0.0.1:${receiver.ready['port']}/hook`)
  defer(() => population.close())
  const channel = await openChannel(bench)
  const withWorkers = createTeam(bench)
  const load = { channel, receiver, population, runMs }
  let pinned = true

  async function curve(
    name: CurveName,
    values: readonly number[],
    prepare: (value: number) => Promise<Partial<Setup>>,
  ): Promise<readonly CostPoint[]> {
    const points: CostPoint[] = []
    for (const value of values) {
      const setup = { stack, subscriptions: SUBSCRIPTIONS, ...(await prepare(value)) }
      const { workers } = pidsOf(setup.stack, 'workers')
      pinned = pinToCores(workers) && pinned
      const point = { at: value, ...(await measurePoint(load, setup)) }
      const cost = Object.entries(point.costUs).map(([part, us]) => `${part} ${us}`)
      say(`  ${value} ${name}: ${point.perSecond} deliveries/s, µs: ${cost.join(', ')}`)
      points.push(point)
    }
    return points
  }

  await population.growTo(SUBSCRIPTIONS)
  const workers = await curve('workers', teams, async (count) => ({ stack: await withWorkers(count) }))
  const usual = await withWorkers(WORKERS)
  const subscriptions = await curve('subscriptions', sizes, async (count) => {
    await population.growTo(count)
    return { stack: usual, subscriptions: count }
  })
  const waiting = await curve('waiting', backlogs, async (count) => {
    await population.waitingTo(count)
    return { stack: usual }
  })
  // Pinned: each worker was bound to one core.
  return { runMs, pinned, curves: { subscriptions, waiting, workers } }
}

interface Setup {
  readonly stack: StackFile
  /** How many of the subscriptions get events. */
  readonly subscriptions: number
}

interface CostLoad {
  readonly channel: ConfirmChannel
  readonly receiver: Child
  readonly population: Population
  readonly runMs: number
}

async function measurePoint(
  { channel, receiver, population, runMs }: CostLoad,
  { stack, subscriptions }: Setup,
): Promise<Omit<CostPoint, 'at'>> {
  const parts = pidsOf(stack, 'workers', 'fanout', 'rabbitmq', 'redis')
  let published = 0
  const publish = async (deliveries: number): Promise<void> => {
    for (const end = published + deliveries; published < end; published++) {
      publishEvent(channel, 'call.status', callData(published), population.tenantOf(published % subscriptions))
    }
    await channel.waitForConfirms()
  }
  const post = (deliveries: number): Promise<number> => timePosts(receiver, () => publish(deliveries), deliveries)

  let perSecond = 0
  for (let round = 0; round < WARM_UP_ROUNDS; round++) perSecond = await post(WARM_UP_DELIVERIES)
  const deliveries = Math.ceil((perSecond * runMs) / 1_000)
  const meter = createMeter(parts)
  const measured = await meter.during(() => post(deliveries))
  const memoryMib = Object.entries(parts).map(([part, pids]): [string, number] => [
    part,
    round(
      pids.reduce((sum, pid) => sum + residentMib(pid), 0),
      0,
    ),
  ])
  return {
    perSecond: measured,
    costUs: meter.costUs(deliveries),
    memoryMib: Object.fromEntries(memoryMib),
    idle: meter.idle(),
  }
}

/** Changes the number of workers of a running stack. */
function createTeam({ stack, bringUp }: Bench): (count: number) => Promise<StackFile> {
  let present = stack
  return async (count) => {
    const next = await bringUp({}, { 'delivery-worker': count })
    const surplus = Object.keys(present.processes).filter(
      (name) => name.startsWith('delivery-worker') && next.processes[name] === undefined,
    )
    for (const name of surplus) await stopDaemon(openHome(stack.home), name)
    present = next
    return next
  }
}

/**
 * Binds each process, with all its threads, to one core: the first process to the first core, and so on, beginning again
 * after the last core. Returns whether that worked; systems other than Linux have no `taskset`.
 */
function pinToCores(pids: readonly number[]): boolean {
  const cores = availableParallelism()
  return pids.every((pid, index) => {
    const pinned = spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(index % cores), String(pid)])
    return pinned.status === 0
  })
}
