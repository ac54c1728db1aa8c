import { openDurableLoop } from '../baselines/durable-loop.ts'
import type { Bench } from '../bench.ts'
import { openClient } from '../load/client.ts'
import { timedData } from '../load/events.ts'
import { type CostUs, createMeter, pidsOf } from '../measure/processor-cost.ts'
import { type Spread, sum } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'
import { agentUri } from './commands.ts'
import { CONNECTIONS, openSides, sideOf, WARM_UP_MS } from './latency.ts'

/** Commands per second. Far below saturation, as screen pops are. */
const RATES = [50, 100, 300, 500] as const
const RUNS = 3

type Latency = ReturnType<typeof sideOf>

export interface Load {
  readonly perSecond: number
  readonly ours: Latency
  readonly hops: Latency
  /** Processor time of a command by process, in µs, and the idle part of the machine. */
  readonly costUs: CostUs
  readonly idle: number | null
  readonly least: { readonly latency: Latency; readonly costUs: CostUs }
}

/**
 * Time from a presence command to its POST, and the processor time that it costs each process, while most of the machine is
 * idle. Runs alternate with two bare hops at the same rate, and with the least that a command costs.
 */
export async function measureModerate(bench: Bench) {
  const { stack, say, options } = bench
  const sides = await openSides(bench)
  const chain = await openLeast(bench, sides)
  const parts = pidsOf(stack, 'api', 'fanout', 'workers', 'redis', 'rabbitmq')
  /** Compiles the hot paths, so that the first rates are measured like the last. */
  const [highest = 0] = RATES.toReversed()
  await sides.presence(highest, WARM_UP_MS)
  await chain.command(highest, WARM_UP_MS)
  const loads: Load[] = []
  for (const perSecond of RATES) {
    say(`  ${perSecond}/s`)
    const [meter, leastMeter] = [createMeter(parts), createMeter(chain.parts)]
    const [ours, hops, bare]: [Spread[], Spread[], Spread[]] = [[], [], []]
    for (let run = 1; run <= RUNS; run++) {
      hops.push(await sides.hops(perSecond, options.RUN_TIME))
      bare.push(await leastMeter.during(() => chain.command(perSecond, options.RUN_TIME)))
      ours.push(await meter.during(() => sides.presence(perSecond, options.RUN_TIME)))
    }
    loads.push({
      perSecond,
      ours: sideOf(ours),
      hops: sideOf(hops),
      costUs: meter.costUs(countOf(ours)),
      idle: meter.idle(),
      least: { latency: sideOf(bare), costUs: leastMeter.costUs(countOf(bare)) },
    })
  }
  return { runMs: options.RUN_TIME, loads }
}

const countOf = (runs: readonly Spread[]): number => sum(runs.map(({ count }) => count))

/**
 * The same steps with nothing else in the processes: a request of Express reads and writes Redis and publishes an event; one process
 * publishes its delivery; another one POSTs it and stores a record.
 */
async function openLeast(bench: Bench, { side, loop }: Awaited<ReturnType<typeof openSides>>) {
  const { stack, defer } = bench
  const chain = await openDurableLoop(loop, { packed: 1, workers: 2, records: true })
  const server = await startChild(bench, 'bare-server.js', [stack.urls.redis, stack.urls.amqp, chain.queue])
  const client = openClient(`http://127.0.0.1:${server.ready['port']}`, CONNECTIONS, null)
  defer(() => client.close())
  return {
    parts: { api: [server.pid], ...chain.processes },
    command: side((n) => client.post('/command', { ...timedData(n), agentUri: agentUri(n) })),
  }
}
