import type { Bench } from '../bench.ts'
import { createMeter, pidsOf } from '../measure/processor-cost.ts'
import { type Spread, sum } from '../measure/statistics.ts'
import { openSides, sideOf, WARM_UP_MS } from './latency.ts'

/** Commands per second. Far below saturation, as screen pops are. */
const RATES = [50, 100, 300, 500] as const
const RUNS = 3

/**
 * Time from a presence command to its POST, and the processor time that it costs each process, while most of the machine is
 * idle. Runs alternate with two bare hops at the same rate.
 */
export async function measureModerate(bench: Bench) {
  const { stack, say, options } = bench
  const sides = await openSides(bench)
  const parts = pidsOf(stack, 'api', 'fanout', 'workers', 'redis', 'rabbitmq')
  /** Compiles the hot paths, so that the first rates are measured like the last. */
  await sides.presence(RATES[RATES.length - 1] ?? 0, WARM_UP_MS)
  const loads = []
  for (const perSecond of RATES) {
    say(`  ${perSecond}/s`)
    const meter = createMeter(parts)
    const [ours, hops]: [Spread[], Spread[]] = [[], []]
    for (let run = 1; run <= RUNS; run++) {
      hops.push(await sides.hops(perSecond, options.RUN_TIME))
      ours.push(await meter.during(() => sides.presence(perSecond, options.RUN_TIME)))
    }
    /** Processor time of a command by process, in µs, and the idle part of the machine. */
    const costUs = meter.costUs(sum(ours.map(({ count }) => count)))
    loads.push({ perSecond, ours: sideOf(ours), hops: sideOf(hops), costUs, idle: meter.idle() })
  }
  return { runMs: options.RUN_TIME, loads }
}
