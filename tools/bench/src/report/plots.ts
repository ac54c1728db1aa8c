import { SIDES, type SideName } from '../figures/deliveries.ts'
import { plotBars, plotLines } from './plot.ts'
import type { Results } from './results.ts'

/** The pictures of the figures in `results`, by figure. */
export function renderPlots(results: Results): Record<string, string> {
  const { commands, deliveries, latency, noisy, memory, outage } = results
  return {
    ...(commands !== undefined && {
      commands: plotBars(
        'Commands per second, and requests per second of a bare server that makes one write',
        'per second, more is better',
        commands.figure.byClients.flatMap(({ clients, commands, baseline }) => [
          { name: `commands, ${clients} clients`, value: commands.perSecond, isOurs: true },
          { name: `bare server, ${clients} clients`, value: baseline.perSecond, isOurs: false },
        ]),
      ),
    }),
    ...(deliveries !== undefined && {
      deliveries: plotBars(
        'Deliveries per second compared with four baselines',
        'deliveries per second, more is better',
        (['one to one', 'twenty to one'] as const).flatMap((workload) =>
          SIDES.map((side) => ({
            name: `${workload}: ${SHORT[side]}`,
            value: deliveries.figure.workloads[workload].sides[side].perSecond,
            isOurs: side === 'switchhook',
          })),
        ),
      ),
    }),
    ...(latency !== undefined && {
      latency: plotBars(
        `From an event to its first POST at ${latency.figure.perSecond} events a second, beside a bare loop`,
        'milliseconds, less is better',
        [
          { name: 'Switchhook, p50', value: latency.figure.ours.p50Ms, isOurs: true },
          { name: 'bare loop, p50', value: latency.figure.bare.p50Ms, isOurs: false },
          { name: 'Switchhook, p99', value: latency.figure.ours.p99Ms, isOurs: true },
          { name: 'bare loop, p99', value: latency.figure.bare.p99Ms, isOurs: false },
        ],
      ),
    }),
    ...(noisy !== undefined && {
      noisy: plotBars(
        'Healthy endpoints while one in five hangs, beside BullMQ with axios',
        'p99 of the healthy endpoints in ms, less is better',
        [
          { name: 'Switchhook, all answer', value: noisy.figure.few.ours.quiet.p99Ms, isOurs: true },
          { name: 'some hang, before the cool-down', value: noisy.figure.few.ours.before.p99Ms, isOurs: true },
          { name: 'some hang, from then on', value: noisy.figure.few.ours.steady.p99Ms, isOurs: true },
          { name: 'BullMQ, all answer', value: noisy.figure.few.bullmq.quiet.p99Ms, isOurs: false },
          { name: 'some hang, the same seconds', value: noisy.figure.few.bullmq.before.p99Ms, isOurs: false },
          { name: 'some hang, from then on', value: noisy.figure.few.bullmq.steady.p99Ms, isOurs: false },
        ],
      ),
    }),
    ...(memory !== undefined && {
      memory: plotLines(
        'Resident memory of the workers over time, with endpoints that answer without end from some point on',
        'resident memory, MiB',
        memory.figure.workers.map(({ samples }, at) => ({ name: `worker ${at + 1}`, points: samples })),
        {
          from: memory.figure.calmMs / 1_000,
          to: memory.figure.workers[0]?.samples.at(-1)?.[0] ?? 0,
          name: 'one endpoint in ten misbehaves',
        },
      ),
    }),
    ...(outage !== undefined && {
      outage: plotLines(
        'POSTs a second over time, with a broker that is away for a while',
        'POSTs per second',
        [{ name: 'calls', points: outage.figure.perSecond }],
        {
          from: outage.figure.diedAfterMs / 1_000,
          to: (outage.figure.diedAfterMs + outage.figure.awayMs) / 1_000,
          name: 'the broker is away',
        },
      ),
    }),
  }
}

const SHORT: Readonly<Record<SideName, string>> = {
  switchhook: 'Switchhook',
  bullmq: 'BullMQ',
  equal: 'BullMQ, equal work',
  durable: 'durable bare loop',
  bare: 'bare loop',
}
