import type { StackFile } from '@switchhook/local'
import { type ConfirmChannel, connect } from 'amqplib'
import type { Queue } from 'bullmq'
import { jobOf, openBullmq } from './bullmq.ts'
import { type Child, startChild } from './child.ts'
import { callData, publishEvent } from './events.ts'
import { type BareLoop, openBareLoop } from './open-bare-loop.ts'
import { median, round } from './statistics.ts'
import { subscribe } from './subscriptions.ts'

/** One event becomes a delivery for each of so many subscriptions. */
const SUBSCRIPTIONS = 20
const EVENTS = 500
const DELIVERIES = SUBSCRIPTIONS * EVENTS
const RUNS = 3
/** In hand at once, on every side: two workers of Switchhook share it. */
const CONCURRENCY = 200
const BULLMQ_QUEUE = 'bench-deliveries'

/** POSTs per second; the median, and the runs. */
interface Rate {
  readonly perSecond: number
  readonly runs: readonly number[]
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
    const rates = { ours: [] as number[], bullmq: [] as number[], bare: [] as number[] }
    // The first round warms everybody up, and does not count.
    for (let run = 0; run <= RUNS; run++) {
      const bullmqRate = await rateOf(receiver, () => addJobs(bullmq, url))
      const bareRate = await rateOf(receiver, () => sendAll(bareLoop, channel))
      const ownRate = await rateOf(receiver, () => publishEvents(channel))
      if (run === 0) continue
      rates.bullmq.push(bullmqRate)
      rates.bare.push(bareRate)
      rates.ours.push(ownRate)
      say(`  run ${run} of ${RUNS}: ${ownRate} deliveries/s, BullMQ ${bullmqRate}/s, bare loop ${bareRate}/s`)
    }
    const [ours, queue, bare] = [rates.ours, rates.bullmq, rates.bare].map(median)
    return {
      deliveries: DELIVERIES,
      subscriptions: SUBSCRIPTIONS,
      ours: { perSecond: ours ?? 0, runs: rates.ours },
      bullmq: { perSecond: queue ?? 0, runs: rates.bullmq },
      bare: { perSecond: bare ?? 0, runs: rates.bare },
      toBullmq: round((ours ?? 0) / (queue ?? 1), 2),
      toBare: round((ours ?? 0) / (bare ?? 1), 2),
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

/** Publishes, and waits until as many POSTs have been answered as that makes. */
async function rateOf(receiver: Child, publish: () => Promise<void>): Promise<number> {
  const before = (await receiver.ask())['posts'] ?? 0
  const startedAt = performance.now()
  await publish()
  for (;;) {
    const { posts = 0 } = await receiver.ask()
    if (posts - before >= DELIVERIES) return Math.round((DELIVERIES * 1_000) / (performance.now() - startedAt))
    if (performance.now() - startedAt > 60_000) throw new Error(`${posts - before} of ${DELIVERIES} POSTs came`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

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
