import { setTimeout as delay } from 'node:timers/promises'
import { Queue } from '@switchhook/messaging'
import type { ConfirmChannel } from 'amqplib'
import type { Baseline } from '../baselines/baseline.ts'
import { openBullmqSide, openEqualBullmqSide } from '../baselines/bullmq.ts'
import { openDurableLoop } from '../baselines/durable-loop.ts'
import { type Bench, closing } from '../bench.ts'
import { subscribe } from '../load/client.ts'
import { type Endpoints, openEndpoints } from '../load/endpoints.ts'
import { callData, messagesOf, openChannel, publishEvent, publishEventPack } from '../load/events.ts'
import { countCarriage } from '../measure/carriage.ts'
import { createMeter, pidsOf } from '../measure/processor-cost.ts'
import { mapValues, median, round } from '../measure/statistics.ts'

/** Further tenants of the identity provider, each with one subscription of its own. */
export const TENANTS = 50
/** Deliveries of a message of the packed loop: as many as of a packet of Switchhook. */
const PACKED = 16
/** Packets of events that wait for fan-out at most, about as many as behind the api, which then publishes single events. */
const MAX_WAITING_PACKS = 200
const PACKETS_AT_ONCE = 50
const RUNS = 3

/** The workloads: how many events a message has, how many deliveries an event becomes, and for how many subscriptions. */
const WORKLOADS = {
  'one to one': { eventsPerMessage: 1, perEvent: 1, subscriptions: TENANTS },
  'one to one, events in packets': { eventsPerMessage: 20, perEvent: 1, subscriptions: TENANTS },
  'one subscription': { eventsPerMessage: 1, perEvent: 1, subscriptions: 1 },
  'twenty to one': { eventsPerMessage: 1, perEvent: 20, subscriptions: 20 },
} as const
type WorkloadName = keyof typeof WORKLOADS

/** Switchhook and its baselines, in the order of a round; each run starts with another one. */
export const SIDES = ['switchhook', 'bullmq', 'equal', 'durable', 'packed'] as const
export type SideName = (typeof SIDES)[number]
export const BASELINES = SIDES.filter((side) => side !== 'switchhook')

type Rates = Readonly<Partial<Record<SideName, { readonly perSecond: number }>>>

/** Rate of Switchhook relative to a baseline of the same workload; NaN for results of an earlier version without it. */
export function ratioTo(baseline: SideName, { sides }: { readonly sides: Rates }): number {
  const rate = (side: SideName): number => sides[side]?.perSecond ?? Number.NaN
  return round(rate('switchhook') / rate(baseline), 2)
}

/** How far the runs of BullMQ with axios lie apart, relative to their median: what the machine alone changed. */
export function bullmqSpread({ sides: { bullmq } }: Workload): number {
  return round((Math.max(...bullmq.runs) - Math.min(...bullmq.runs)) / bullmq.perSecond, 2)
}

/**
 * Deliveries per second, from the first published event to the last answered POST, and of four baselines in the same run
 * (docs/benchmarks.md says what each does). Every side gets as many deliveries as it makes in `RUN_TIME`.
 */
export async function measureDeliveries(bench: Bench) {
  /** Results of an earlier version may lack some. */
  const workloads: Partial<Record<WorkloadName, Workload>> = {}
  for (const name of Object.keys(WORKLOADS) as WorkloadName[]) {
    workloads[name] = await closing(bench, (part) => measureWorkload(part, name))
  }
  return { runMs: bench.options.RUN_TIME, workloads }
}

export type Workload = Awaited<ReturnType<typeof measureWorkload>>

async function measureWorkload(part: Bench, name: WorkloadName) {
  const { stack, say, options } = part
  const { eventsPerMessage, perEvent, subscriptions } = WORKLOADS[name]
  const receiver = await openEndpoints(part, [1])
  const { url } = receiver
  const channel = await openChannel(part)
  const common = { ...part, channel, url, perEvent, eventsPerMessage }
  if (subscriptions !== TENANTS) await subscribe(part, Array<string>(subscriptions).fill(url))
  else for (let n = 1; n <= TENANTS; n++) await subscribe(part, [url], { tenant: `tenant-${n}` })
  const opened = {
    switchhook: openOurSide(part, channel, name),
    bullmq: await openBullmqSide(common),
    equal: await openEqualBullmqSide(common),
    durable: await openDurableLoop(common, { packed: 1, workers: 2, records: true }),
    packed: await openDurableLoop(common, { packed: PACKED, workers: 2, records: true }),
  }
  const sides = mapValues(opened, (side) => createSide(side, receiver, perEvent))
  for (const side of SIDES) await sides[side].warmUp()
  // Of Switchhook's deliveries.
  const carriage = await countCarriage(stack, async () => {
    for (let run = 0; run < RUNS; run++) {
      const [first, others] = [SIDES.slice(run % SIDES.length), SIDES.slice(0, run % SIDES.length)]
      for (const side of [...first, ...others]) await sides[side].run(options.RUN_TIME)
      say(`  ${name}, run ${run + 1} of ${RUNS}`)
    }
    return sides.switchhook.delivered()
  })
  return { perEvent, subscriptions, sides: mapValues(sides, (side) => side.rate()), carriage }
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
          publishEventPack(channel, events)
          if (message % PACKETS_AT_ONCE === 0) await packsTaken(channel)
        }
      }
      await channel.waitForConfirms()
    },
  }
}

async function packsTaken(channel: ConfirmChannel): Promise<void> {
  await channel.waitForConfirms()
  while ((await channel.checkQueue(Queue.eventPackets)).messageCount > MAX_WAITING_PACKS) await delay(5)
}

function createSide({ processes, publish }: Baseline, receiver: Endpoints, perEvent: number) {
  const runs: number[] = []
  const meter = createMeter(processes)
  const harness = createMeter({ publisher: [process.pid], receiver: [receiver.pid] })
  let [delivered, perSecond] = [0, 0]
  return {
    async warmUp(): Promise<void> {
      perSecond = await receiver.warmUp(publish)
    },
    async run(runMs: number): Promise<void> {
      const deliveries = Math.ceil((perSecond * runMs) / 1_000 / perEvent) * perEvent
      runs.push(await harness.during(() => meter.during(() => receiver.timePosts(publish, deliveries))))
      delivered += deliveries
    },
    /** Deliveries of all runs so far. */
    delivered: () => delivered,
    rate: () => ({
      /** Deliveries per second. */
      perSecond: median(runs),
      runs,
      /** Processor time of a delivery by process, in µs, without publisher and receiver. */
      costUs: meter.costUs(delivered),
      /** The same of the publisher and the receiver, which are alike on every side. */
      harnessUs: harness.costUs(delivered),
      idle: meter.idle(),
    }),
  }
}
