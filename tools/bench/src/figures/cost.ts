import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { openHome, stopDaemon } from '@switchhook/test-servers'
import type { Bench } from '../bench.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { callData, openChannel, publishEvent } from '../load/events.ts'
import { openPopulation } from '../load/population.ts'
import { residentMib } from '../measure/process-usage.ts'
import { createMeter, pidsOf } from '../measure/processor-cost.ts'
import { mapValues, round, sum } from '../measure/statistics.ts'

/** The usual number of worker processes, and of subscriptions while something else varies. */
const WORKERS = 2
const SUBSCRIPTIONS = 1_000

/**
 * Cost of a delivery, one per event, while one quantity grows and the others stay. Each subscription has a tenant of its
 * own, and the events take turns among the tenants: with many of them, nothing that a process remembers is used twice.
 */
export async function measureCost(bench: Bench) {
  const { say, options, bringUp } = bench
  const { COST_SUBSCRIPTIONS: sizes, COST_WAITING: backlogs, COST_WORKERS: teams, RUN_TIME: runMs } = options
  const receiver = await openEndpoints(bench, [1])
  const population = await openPopulation(bench, receiver.url)
  const channel = await openChannel(bench)
  let { stack } = bench
  /** How many of the subscriptions get events. */
  let subscribed = SUBSCRIPTIONS
  let pinned = true

  /** @param change brings the quantity that varies (subscriptions, waiting deliveries or workers) to a value */
  async function curve(name: string, values: readonly number[], change: (value: number) => Promise<void>) {
    const points = []
    for (const value of values) {
      await change(value)
      say(`  ${value} ${name}`)
      points.push({ at: value, ...(await measurePoint()) })
    }
    return points
  }

  async function setWorkers(count: number): Promise<void> {
    const next = await bringUp({}, { 'delivery-worker': count })
    const surplus = Object.keys(stack.processes).filter(
      (name) => name.startsWith('delivery-worker') && next.processes[name] === undefined,
    )
    for (const name of surplus) await stopDaemon(openHome(stack.home), name)
    stack = next
  }

  async function measurePoint() {
    const parts = pidsOf(stack, 'workers', 'fanout', 'rabbitmq', 'redis')
    pinned = pinToCores(parts.workers) && pinned
    let published = 0
    const publish = async (deliveries: number): Promise<void> => {
      for (const end = published + deliveries; published < end; published++) {
        publishEvent(channel, 'call.status', callData(published), population.tenantOf(published % subscribed))
      }
      await channel.waitForConfirms()
    }
    const deliveries = Math.ceil(((await receiver.warmUp(publish)) * runMs) / 1_000)
    const meter = createMeter(parts)
    const perSecond = await meter.during(() => receiver.timePosts(publish, deliveries))
    return {
      perSecond,
      /** Processor time of a delivery by process, in µs. */
      costUs: meter.costUs(deliveries),
      /** Resident memory of each part at the end, in MiB. */
      memoryMib: mapValues(parts, (pids) => round(sum(pids.map(residentMib)), 0)),
      idle: meter.idle(),
    }
  }

  await population.growTo(SUBSCRIPTIONS)
  const workers = await curve('workers', teams, setWorkers)
  await setWorkers(WORKERS)
  const subscriptions = await curve('subscriptions', sizes, async (count) => {
    await population.growTo(count)
    subscribed = count
  })
  subscribed = SUBSCRIPTIONS
  const waiting = await curve('waiting', backlogs, (count) => population.waitingTo(count))
  // Pinned: each worker was bound to one core.
  return { runMs, pinned, curves: { subscriptions, waiting, workers } }
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
