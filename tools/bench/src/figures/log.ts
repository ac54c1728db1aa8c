import { type ConfirmChannel, connect } from 'amqplib'
import type { Bench } from '../bench.ts'
import { callData, publishEvent } from '../load/events.ts'
import { subscribe } from '../load/subscriptions.ts'
import { timePosts } from '../load/time-posts.ts'
import { type CostUs, createMeter } from '../measure/processor-cost.ts'
import { median, round } from '../measure/statistics.ts'
import { type Child, startChild } from '../processes/child.ts'
import { endProcess, pidsOf } from './stack-pids.ts'

const DELIVERIES = 5_000
/** The log costs most at one delivery per event: the event's record serves that one alone. */
const FAN_OUTS = [20, 1]
/** Alternating, so that other changes of the machine affect both. */
const SETTINGS = ['on', 'off', 'on', 'off', 'on', 'off'] as const
/** Rounds that do not count, until a restarted fan-out has compiled its code. */
const WARM_UP_RUNS = 2
const RUNS = 3
/** `on` is the default. */
const SIZES = { on: '1000', off: '0' } as const

type Setting = keyof typeof SIZES

interface Side {
  readonly perSecond: number
  readonly runs: readonly number[]
  /** Processor time of a delivery, by part. */
  readonly costUs: CostUs
}

export interface LogFigure {
  readonly fanOuts: readonly {
    readonly subscriptions: number
    readonly on: Side
    readonly off: Side
    /** Deliveries per second with the log relative to without. */
    readonly ratio: number
  }[]
}

/**
 * Cost of the delivery log: deliveries per second, and processor time of fan-out and Redis per delivery, in alternating runs
 * with and without the log. Undefined if the bench cannot restart fan-out.
 */
export async function measureLog(bench: Bench): Promise<LogFigure | undefined> {
  const receiver = await startChild('receiver-server.js')
  const model = await connect(bench.stack.urls.amqp)
  const channel = await model.createConfirmChannel()
  try {
    const fanOuts = []
    for (const subscriptions of FAN_OUTS) fanOuts.push(await measureFanOut(bench, channel, receiver, subscriptions))
    return { fanOuts }
  } finally {
    await receiver.stop()
    await model.close()
    await restartFanOut(bench, 'on')
  }
}

async function measureFanOut(
  bench: Bench,
  channel: ConfirmChannel,
  receiver: Child,
  subscriptions: number,
): Promise<LogFigure['fanOuts'][number]> {
  const url = `http://127.0.0.1:${receiver.ready['port']}/hook`
  const unsubscribe = await subscribe(bench.stack, bench.token, Array<string>(subscriptions).fill(url))
  const publish = async (): Promise<void> => {
    for (let n = 0; n < DELIVERIES / subscriptions; n++) publishEvent(channel, 'call.status', callData(n))
    await channel.waitForConfirms()
  }
  const runs: Record<Setting, number[]> = { on: [], off: [] }
  const costs: Record<Setting, CostUs[]> = { on: [], off: [] }
  try {
    for (const setting of SETTINGS) {
      const meter = createMeter(await restartFanOut(bench, setting))
      for (let run = 1 - WARM_UP_RUNS; run <= RUNS; run++) {
        const time = (): Promise<number> => timePosts(receiver, publish, DELIVERIES)
        if (run > 0) runs[setting].push(await meter.during(time))
        else await time()
      }
      costs[setting].push(meter.costUs(RUNS * DELIVERIES))
      bench.say(`  log ${setting}, ${subscriptions} per event: ${runs[setting].slice(-RUNS).join(', ')} deliveries/s`)
    }
  } finally {
    await unsubscribe()
  }
  const sideOf = (setting: Setting): Side => ({
    perSecond: median(runs[setting]),
    runs: runs[setting],
    costUs: meanOf(costs[setting]),
  })
  const [on, off] = [sideOf('on'), sideOf('off')]
  return { subscriptions, on, off, ratio: round(on.perSecond / off.perSecond, 2) }
}

/** Ends fan-out and starts it with or without the log; answers the processes that the log costs. */
async function restartFanOut(bench: Bench, setting: Setting): Promise<Readonly<Record<string, readonly number[]>>> {
  for (const pid of pidsOf(await bench.bringUp(), 'fanout').fanout) await endProcess(pid)
  return pidsOf(await bench.bringUp({ DELIVERY_LOG_SIZE: SIZES[setting] }), 'fanout', 'redis')
}

function meanOf(costs: readonly CostUs[]): CostUs {
  const parts = Object.keys(costs[0] ?? {})
  const mean = (part: string): number => costs.reduce((sum, cost) => sum + (cost[part] ?? 0), 0) / costs.length
  return Object.fromEntries(parts.map((part) => [part, round(mean(part), 0)]))
}
