import { type StackFile } from '@switchhook/local'
import { type ConfirmChannel, connect } from 'amqplib'
import type { Queue } from 'bullmq'
import { jobOf, openBullmq } from '../baselines/bullmq.ts'
import { type BareLoop, openBareLoop } from '../baselines/open-bare-loop.ts'
import { callData, publishEvent } from '../load/events.ts'
import { subscribe } from '../load/subscriptions.ts'
import { timePosts } from '../load/time-posts.ts'
import { type CostUs, createMeter, type Meter } from '../measure/processor-cost.ts'
import { median, round } from '../measure/statistics.ts'
import { type Child, startChild } from '../processes/child.ts'

/** One event becomes a delivery for each of so many subscriptions. */
const SUBSCRIPTIONS = 20
const EVENTS = 500
const DELIVERIES = SUBSCRIPTIONS * EVENTS
const RUNS = 5
/** Until the engines have compiled what they run: these rounds do not count. */
const WARM_UP_RUNS = 3
/** In hand at once, on every side: two workers of Switchhook share it. */
const CONCURRENCY = 200
const BULLMQ_QUEUE = 'bench-deliveries'

/** POSTs per second; the median, and the runs. */
interface Rate {
  readonly perSecond: number
  readonly runs: readonly number[]
  /** Where the processor time of a delivery goes. */
  readonly costUs: CostUs
}

export interface DeliveriesFigure {
  readonly deliveries: number
  readonly subscriptions: number
  readonly ours: Rate
  readonly bullmq: Rate
  readonly bare: Rate
  readonly toBullmq: number
  readonly toBare: number
}

/**
 * Deliveries per second, from the first event that is published to the last POST that is answered. In the same run and
 * in turn with it, the same number of POSTs with the same body, to the same endpoint: as jobs of BullMQ with axios, and
 * by a bare loop that consumes a quorum queue and POSTs with undici.
 */
export async function measureDeliveries(
  stack: StackFile,
  token: string,
  say: (line: string) => void,
): Promise<DeliveriesFigure> {
  const receiver = await startChild('receiver-server.js')
  const url = `http://127.0.0.1:${receiver.ready['port']}/hook`
  const model = await connect(stack.urls.amqp)
  const channel = await model.createConfirmChannel()
  const unsubscribe = await subscribe(stack, token, Array<string>(SUBSCRIPTIONS).fill(url))
  const bullmq = openBullmq(stack.urls.redis, BULLMQ_QUEUE)
  const worker = await startChild('bullmq-worker.js', [stack.urls.redis, BULLMQ_QUEUE, String(CONCURRENCY)])
  const bareLoop = await openBareLoop(stack, channel, new URL(url).origin, CONCURRENCY)
  try {
    const { rabbitmq, redis } = stack.processes
    const brokerPids = rabbitmq === undefined ? [] : [rabbitmq.pid]
    const redisPids = redis === undefined ? [] : [redis.pid]
    const pidsOf = (part: RegExp): number[] =>
      Object.entries(stack.processes).flatMap(([name, { pid }]) => (part.test(name) ? [pid] : []))
    const sides = {
      bullmq: openSide(() => addJobs(bullmq, url), { worker: [worker.pid], redis: redisPids }),
      bare: openSide(() => sendAll(bareLoop, channel), { loop: [bareLoop.pid], rabbitmq: brokerPids }),
      ours: openSide(() => publishEvents(channel), {
        workers: pidsOf(/^delivery-worker/),
        rabbitmq: brokerPids,
        fanout: pidsOf(/^fanout/),
        redis: redisPids,
      }),
    }
    for (let run = 1 - WARM_UP_RUNS; run <= RUNS; run++) {
      for (const side of Object.values(sides)) await side.run(receiver, run > 0)
      const last = (side: Side): number => side.runs.at(-1) ?? 0
      const { ours, bullmq: theirs, bare } = sides
      if (run > 0) {
        say(`  run ${run} of ${RUNS}: ${last(ours)} deliveries/s, BullMQ ${last(theirs)}/s, bare loop ${last(bare)}/s`)
      }
    }
    const ours = rateOf(sides.ours)
    const theirs = rateOf(sides.bullmq)
    const bare = rateOf(sides.bare)
    return {
      deliveries: DELIVERIES,
      subscriptions: SUBSCRIPTIONS,
      ours,
      bullmq: theirs,
      bare,
      toBullmq: round(ours.perSecond / theirs.perSecond, 2),
      toBare: round(ours.perSecond / bare.perSecond, 2),
    }
  } finally {
    await bareLoop.close()
    await Promise.all([worker, receiver].map((child) => child.stop()))
    await bullmq.obliterate({ force: true })
    await bullmq.close()
    await model.close()
    await unsubscribe()
  }
}

interface Side {
  readonly runs: readonly number[]
  readonly meter: Meter
  run(receiver: Child, counts: boolean): Promise<void>
}

function openSide(publish: () => Promise<void>, parts: Readonly<Record<string, readonly number[]>>): Side {
  const runs: number[] = []
  const meter = createMeter(parts)
  return {
    runs,
    meter,
    async run(receiver, counts) {
      if (!counts) await timePosts(receiver, publish, DELIVERIES)
      else runs.push(await meter.during(() => timePosts(receiver, publish, DELIVERIES)))
    },
  }
}

const rateOf = ({ runs, meter }: Side): Rate => ({
  perSecond: median(runs),
  runs,
  costUs: meter.costUs(runs.length * DELIVERIES),
})

async function publishEvents(channel: ConfirmChannel): Promise<void> {
  for (let n = 0; n < EVENTS; n++) publishEvent(channel, 'call.status', callData(n))
  await channel.waitForConfirms()
}

async function sendAll(bareLoop: BareLoop, channel: ConfirmChannel): Promise<void> {
  for (let n = 0; n < DELIVERIES; n++) bareLoop.send(callData(n))
  await channel.waitForConfirms()
}

async function addJobs(queue: Queue, url: string): Promise<void> {
  const jobs = Array.from({ length: DELIVERIES }, (_, n) => jobOf(url, callData(n)))
  for (let from = 0; from < jobs.length; from += 1_000) await queue.addBulk(jobs.slice(from, from + 1_000))
}
