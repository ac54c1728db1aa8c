import { setTimeout as delay } from 'node:timers/promises'
import { Queue } from '@switchhook/messaging'
import { type ConfirmChannel, connect } from 'amqplib'
import type { Baseline } from '../baselines/baseline.ts'
import { openBullmqSide, openEqualBullmqSide } from '../baselines/bullmq.ts'
import { openDurableLoop } from '../baselines/durable-loop.ts'
import type { Bench } from '../bench.ts'
import { callData, messagesOf, publishEvent, publishEventPack } from '../load/events.ts'
import { subscribe } from '../load/subscriptions.ts'
import { timePosts } from '../load/time-posts.ts'
import { type Carriage, countCarriage, describeCarriage } from '../measure/carriage.ts'
import { type CostUs, createMeter } from '../measure/processor-cost.ts'
import { median, round } from '../measure/statistics.ts'
import { type Child, startChild } from '../processes/child.ts'
import { pidsOf } from './stack-pids.ts'

/** Further tenants of the identity provider, each with one subscription of its own. */
export const TENANTS = 50
/** Concurrent deliveries on every side. Switchhook, the equal BullMQ and the durable loops share it among two workers. */
const CONCURRENCY = 200
/** Deliveries of a message of the packed loop: as many as of a packet of Switchhook. */
const PACKED = 16
/** Packs of events that wait for fan-out at most, about as many as behind the api, which then publishes single events. */
const MAX_WAITING_PACKS = 200
const PACKS_AT_ONCE = 50
const RUNS = 3
/** Rounds that do not count, until the engines have compiled what they run; the last one estimates the rate. */
const WARM_UP_ROUNDS = 3
const WARM_UP_DELIVERIES = 4_000

/** The workloads: how many events a message has, how many deliveries an event becomes, and for how many subscriptions. */
const WORKLOADS = {
  'one to one': { eventsPerMessage: 1, perEvent: 1, subscriptions: TENANTS },
  'one to one, events in packs': { eventsPerMessage: 20, perEvent: 1, subscriptions: TENANTS },
  'one subscription': { eventsPerMessage: 1, perEvent: 1, subscriptions: 1 },
  'twenty to one': { eventsPerMessage: 1, perEvent: 20, subscriptions: 20 },
} as const
type WorkloadName = keyof typeof WORKLOADS

/** Switchhook and its baselines, in the order of a round; each run starts with another one. */
export const SIDES = ['switchhook', 'bullmq', 'equal', 'durable', 'packed'] as const
export type SideName = (typeof SIDES)[number]

interface Rate {
  /** Deliveries per second: the median of the runs. */
  readonly perSecond: number
  readonly runs: readonly number[]
  /** Processor time of a delivery by process, in µs, without publisher and receiver. */
  readonly costUs: CostUs
  /** The same of the publisher and the receiver, which are alike on every side. */
  readonly harnessUs: CostUs
  /** Idle share of the machine's processor time; null if the system does not report it. */
  readonly idle: number | null
}

export interface Workload {
  readonly perEvent: number
  readonly subscriptions: number
  readonly sides: Readonly<Record<SideName, Rate>>
  /** Of Switchhook's deliveries, warm-up included; null if the broker does not tell. */
  readonly carriage: Carriage | null
}

export interface DeliveriesFigure {
  /** Length of a run on every side. */
  readonly runMs: number
  /** Results of an earlier version may lack some. */
  readonly workloads: Readonly<Partial<Record<WorkloadName, Workload>>>
}

/** Rate of Switchhook relative to a baseline of the same workload. */
export const ratioTo = (baseline: SideName, { sides }: Workload): number =>
  round(sides.switchhook.perSecond / sides[baseline].perSecond, 2)

/** How far the runs of BullMQ with axios lie apart, relative to their median: what the machine alone changed. */
export function bullmqSpread({ sides: { bullmq } }: Workload): number {
  return round((Math.max(...bullmq.runs) - Math.min(...bullmq.runs)) / bullmq.perSecond, 2)
}

/**
 * Deliveries per second, from the first published event to the last answered POST, and of four baselines in the same run
 * (docs/benchmarks.md says what each does). Every side gets as many deliveries as it makes in `RUN_TIME`.
 */
export async function measureDeliveries(bench: Bench): Promise<DeliveriesFigure> {
  const workloads: Partial<Record<WorkloadName, Workload>> = {}
  for (const name of Object.keys(WORKLOADS) as WorkloadName[]) {
    bench.say(`  ${name}`)
    workloads[name] = await measureWorkload(bench, name)
  }
  return { runMs: bench.options.RUN_TIME, workloads }
}

async function measureWorkload(bench: Bench, name: WorkloadName): Promise<Workload> {
  const { stack, say } = bench
  const { eventsPerMessage, perEvent, subscriptions } = WORKLOADS[name]
  const receiver = await startChild('receiver-server.js')
  const url = `http://127.0.0.1:${receiver.ready['port']}/hook`
  const model = await connect(stack.urls.amqp)
  const channel = await model.createConfirmChannel()
  const options = { stack, channel, url, perEvent, eventsPerMessage, concurrency: CONCURRENCY }
  const baselines: Partial<Record<SideName, Baseline>> = {}
  const unsubscribe = await subscribeWorkload(bench, name, url)
  try {
    baselines.switchhook = openOurSide(bench, channel, name)
    baselines.bullmq = await openBullmqSide(options)
    baselines.equal = await openEqualBullmqSide(options)
    baselines.durable = await openDurableLoop(options, { packed: 1, workers: 2, records: true })
    baselines.packed = await openDurableLoop(options, { packed: PACKED, workers: 2, records: true })
    const sides = SIDES.map((side) => ({ name: side, ...createSide(baselines[side], receiver, perEvent) }))
    const carriage = await countCarriage(stack, async () => {
      for (const side of sides) await side.warmUp()
      for (let run = 0; run < RUNS; run++) {
        for (const side of [...sides.slice(run % sides.length), ...sides.slice(0, run % sides.length)]) {
          await side.run(bench.options.RUN_TIME)
        }
        say(`  run ${run + 1} of ${RUNS}: ${sides.map((side) => `${side.name} ${side.last()}/s`).join(', ')}`)
      }
      return sides.find((side) => side.name === 'switchhook')?.made() ?? 0
    })
    const rates = Object.fromEntries(sides.map((side) => [side.name, side.rate()])) as Workload['sides']
    const workload = { perEvent, subscriptions, sides: rates, carriage }
    say(
      `  runs of BullMQ with axios differ by ${bullmqSpread(workload)} of their median; ${describeCarriage(carriage)}`,
    )
    return workload
  } finally {
    for (const baseline of Object.values(baselines)) await baseline.close()
    await unsubscribe()
    await receiver.stop()
    await model.close()
  }
}

/** Subscriptions of the workload: one per further tenant, or all of one tenant. */
async function subscribeWorkload(bench: Bench, name: WorkloadName, url: string): Promise<() => Promise<void>> {
  const { subscriptions } = WORKLOADS[name]
  if (subscriptions !== TENANTS) return subscribe(bench.stack, bench.token, Array<string>(subscriptions).fill(url))
  const ends: (() => Promise<void>)[] = []
  for (let n = 1; n <= TENANTS; n++) {
    ends.push(await subscribe(bench.stack, await bench.tokenOf(`tenant-${n}`), [url]))
  }
  return async () => {
    for (const end of ends) await end()
  }
}

function openOurSide({ stack }: Bench, channel: ConfirmChannel, name: WorkloadName): Baseline {
  const { eventsPerMessage, perEvent, subscriptions } = WORKLOADS[name]
  const tenantOf = (n: number): string => (subscriptions === TENANTS ? `tenant-${(n % TENANTS) + 1}` : 'acme')
  return {
    processes: pidsOf(stack, 'workers', 'fanout', 'rabbitmq', 'redis'),
    publish: async (deliveries) => {
      for (const [message, numbers] of messagesOf(deliveries / perEvent, eventsPerMessage).entries()) {
        if (eventsPerMessage === 1)
          for (const n of numbers) publishEvent(channel, 'call.status', callData(n), tenantOf(n))
        else {
          const events = numbers.map((n) => ({ data: callData(n), tenant: tenantOf(n) }))
          publishEventPack(channel, 'call.status', events)
          if (message % PACKS_AT_ONCE === 0) await packsTaken(channel)
        }
      }
      await channel.waitForConfirms()
    },
    close: async () => {},
  }
}

async function packsTaken(channel: ConfirmChannel): Promise<void> {
  await channel.waitForConfirms()
  while ((await channel.checkQueue(Queue.eventPacks)).messageCount > MAX_WAITING_PACKS) await delay(5)
}

function createSide(baseline: Baseline | undefined, receiver: Child, perEvent: number) {
  if (baseline === undefined) throw new Error('a side was not opened')
  const { processes, publish } = baseline
  const runs: number[] = []
  const meter = createMeter(processes)
  const harness = createMeter({ publisher: [process.pid], receiver: [receiver.pid] })
  let [delivered, perSecond] = [0, 0]
  const post = (deliveries: number): Promise<number> => timePosts(receiver, () => publish(deliveries), deliveries)
  return {
    async warmUp(): Promise<void> {
      for (let round = 0; round < WARM_UP_ROUNDS; round++) perSecond = await post(WARM_UP_DELIVERIES)
    },
    async run(runMs: number): Promise<void> {
      const deliveries = Math.ceil((perSecond * runMs) / 1_000 / perEvent) * perEvent
      runs.push(await harness.during(() => meter.during(() => post(deliveries))))
      delivered += deliveries
    },
    last: () => runs.at(-1) ?? 0,
    /** Deliveries so far, warm-up included. */
    made: () => WARM_UP_ROUNDS * WARM_UP_DELIVERIES + delivered,
    rate: (): Rate => ({
      perSecond: median(runs),
      runs,
      costUs: meter.costUs(delivered),
      harnessUs: harness.costUs(delivered),
      idle: meter.idle(),
    }),
  }
}
