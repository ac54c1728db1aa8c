import { BASELINES, bullmqSpread, ratioTo, SIDES, type SideName } from '../figures/deliveries.ts'
import { toHops } from '../figures/latency.ts'
import { slowdownOf } from '../figures/listeners.ts'
import type { FigureName, Figures } from '../figures.ts'
import { describeCarriage } from '../measure/carriage.ts'
import type { CostUs } from '../measure/processor-cost.ts'
import { round, type Spread, sum } from '../measure/statistics.ts'

/** A Markdown table. */
export const table = (heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const parts = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map((part) => part.join(' '))
    .join(', ')
const sumOf = (costUs: CostUs): number => sum(Object.values(costUs))
const percent = (share: number | null): string => (share === null ? 'not known' : `${Math.round(share * 100)} %`)
const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`

type Latency = Pick<Spread, 'p50Ms' | 'p99Ms'>
const LATENCY = ['p50, ms', 'p99, ms']
const latency = ({ p50Ms, p99Ms }: Latency) => [p50Ms, p99Ms]
const pairs = (runs: readonly Latency[]): string => runs.map((run) => latency(run).join(' / ')).join(', ')

const SIDE_NAMES: Readonly<Record<SideName, string>> = {
  switchhook: 'Switchhook',
  bullmq: 'BullMQ with axios',
  equal: 'BullMQ, equal work',
  durable: 'durable loop',
  packed: 'durable loop, 16 per message',
}

const namesOf = (sides: readonly SideName[]): readonly string[] => sides.map((side) => SIDE_NAMES[side])

/** The generated tables of each figure in `docs/benchmarks.md`. The prose around them is written by hand. */
export const TABLES: { readonly [Name in FigureName]: (figure: Figures[Name]) => readonly string[] } = {
  deliveries: ({ workloads }) => {
    const all = Object.entries(workloads)
    return [
      table(
        ['deliveries per second', ...namesOf(SIDES)],
        all.map(([name, { sides }]) => {
          const rate = (side: SideName): string => `${sides[side].perSecond} (${sides[side].runs.join(', ')})`
          return [name, ...SIDES.map(rate)]
        }),
      ),
      table(
        ['Switchhook relative to', ...namesOf(BASELINES), "spread of BullMQ's runs", "Switchhook's deliveries"],
        all.map(([name, workload]) => {
          const ratios = BASELINES.map((side) => ratioTo(side, workload))
          return [name, ...ratios, percent(bullmqSpread(workload)), describeCarriage(workload.carriage)]
        }),
      ),
      table(
        ['workload', 'side', 'µs per delivery', 'by process', 'publisher, receiver', 'idle'],
        all.flatMap(([name, { sides }]) =>
          SIDES.map((side) => {
            const { costUs, harnessUs, idle } = sides[side]
            return [name, SIDE_NAMES[side], sumOf(costUs), parts(costUs), parts(harnessUs), percent(idle)]
          }),
        ),
      ),
    ]
  },
  latency: ({ loads }) => [
    table(
      ['from', 'side', ...LATENCY, 'p50 and p99, to two bare hops', 'runs, p50 / p99', "Switchhook's deliveries"],
      Object.entries(loads).flatMap(([name, load]) => {
        const { perSecond, ours, hops, carriage } = load
        const { p50, p99 } = toHops(load)
        const from = `${name === 'event' ? 'event' : 'presence command'}, ${perSecond}/s`
        return [
          [from, 'Switchhook', ...latency(ours), `${p50}, ${p99}`, pairs(ours.runs), describeCarriage(carriage)],
          [from, 'two bare hops', ...latency(hops), '', pairs(hops.runs), ''],
        ]
      }),
    ),
  ],
  moderate: ({ loads }) => [
    table(
      ['commands/s', ...LATENCY, 'two bare hops', 'relative to them', 'runs, p50 / p99', 'idle'],
      loads.map((load) => {
        const { perSecond, ours, hops, idle } = load
        const { p50, p99 } = toHops(load)
        const bare = pairs([hops])
        return [perSecond, ...latency(ours), bare, `${p50}, ${p99}`, pairs(ours.runs), percent(idle)]
      }),
    ),
    table(
      ['commands/s', 'µs', 'by process', 'the least: µs', 'by process', 'p50 / p99, ms', 'µs relative to it'],
      loads.map(({ perSecond, costUs, least }) => {
        const ours = [perSecond, sumOf(costUs), parts(costUs)]
        const ratio = round(sumOf(costUs) / sumOf(least.costUs), 2)
        return [...ours, sumOf(least.costUs), parts(least.costUs), pairs([least.latency]), ratio]
      }),
    ),
  ],
  listeners: (figure) => [
    table(
      ['listeners', ...LATENCY, 'relative to none', 'runs, p50 / p99', 'messages/s', 'gaps', 'api, MiB', 'µs'],
      (['nobody', 'one agent each', 'everything'] as const).map((name) => {
        const audience = figure.audiences[name]
        const { runs, messagesPerSecond, gaps, apiMib, costUs } = audience
        const who = name === 'nobody' ? 'none' : `${figure.listeners}, ${name}`
        const rest = [pairs(runs), messagesPerSecond, gaps, apiMib, parts(costUs)]
        return [who, ...latency(audience), slowdownOf(name, figure), ...rest]
      }),
    ),
  ],
  platforms: ({ simulator, asterisk, idle }) => [
    table(
      ['command', 'simulator p50, ms', 'p99, ms', 'Asterisk p50, ms', 'p99, ms'],
      (['answer', 'hold', 'resume', 'hangup'] as const).map((command) => [
        command,
        ...latency(simulator[command]),
        ...latency(asterisk[command]),
      ]),
    ),
    `Processor time that nothing used during the runs: ${percent(idle)}.`,
  ],
  cost: ({ curves }) => [
    table(
      ['', '', 'deliveries per second', 'µs per delivery', 'by process', 'memory, MiB', 'idle'],
      Object.entries(curves).flatMap(([curve, points]) =>
        points.map(({ at, perSecond, costUs, memoryMib, idle }) => {
          return [curve, at, perSecond, sumOf(costUs), parts(costUs), parts(memoryMib), percent(idle)]
        }),
      ),
    ),
  ],
  limited: ({ neighbours, limits, unlimited, limited, runs, ratio }) => {
    const within = Object.entries(limits).join('; ').replaceAll(',', ' ')
    const [free, bound] = [runs.map((run) => run.unlimited), runs.map((run) => run.limited)]
    return [
      table(
        [`${neighbours} other endpoints, ms`, 'p50', 'p99', 'p99, relative to no limits', 'runs, p50 / p99'],
        [
          ['without limits', ...latency(unlimited), '', pairs(free)],
          [within, ...latency(limited), `${ratio} ×`, pairs(bound)],
        ],
      ),
    ]
  },
  noisy: ({ few, many }) => [
    table(
      ['p99 of the endpoints that answer, ms', 'all answer', 'one in five hangs, before the cool-down', 'then'],
      [
        { side: 'Switchhook', ...few, ...few.ours },
        { side: 'BullMQ with axios', ...few, ...few.bullmq },
        { side: 'Switchhook', ...many, ...many.ours },
      ].map(({ side, hanging, endpoints, quiet, before, beforeRatio, steady, steadyRatio }) => [
        `${side}, ${hanging} of ${endpoints}`,
        quiet.p99Ms,
        `${before.p99Ms} (${beforeRatio} ×)`,
        `${steady.p99Ms} (${steadyRatio} ×)`,
      ]),
    ),
  ],
  sweep: ({ perSecond, rows }) => [
    table(
      [
        `p50 and p99 of another tenant, ms; ${perSecond} deliveries a second to`,
        'all answer',
        'they answer like this',
        'p99, relative',
      ],
      rows.map(({ endpoints, answers, quiet, beside, ratio }) => [
        `${endpoints} endpoints: ${answers}`,
        `${quiet.p50Ms}, ${quiet.p99Ms}`,
        `${beside.p50Ms}, ${beside.p99Ms}`,
        ratio,
      ]),
    ),
  ],
  harm: ({ limitsMib, rows }) => [
    table(
      [
        'beside',
        "another tenant's deliveries, p99, ms",
        'its requests, p99, ms',
        ...Object.entries(limitsMib).map(([part, mib]) => `${part}, most MiB (chart: ${mib})`),
      ],
      rows.map(({ harm, deliveries, requests, mostMib }) => [
        harm,
        deliveries.p99Ms,
        requests.p99Ms,
        ...Object.values(mostMib),
      ]),
    ),
  ],
  fairness: ({ events, perEvent, alone, hanging, bursts }) => [
    table(
      ['other tenants', 'publishing the burst took', 'observed', ...LATENCY],
      [
        ['alone', '', '', ...latency(alone)],
        [`${hanging.deliveries} deliveries of one tenant hang`, '', '', ...latency(hanging.others)],
        ...bursts.map(({ hanging, publishedMs, observedMs, isDrained, others }) => [
          `burst of ${events} events, ${hanging} of ${perEvent} endpoints hang`,
          seconds(publishedMs),
          `${seconds(observedMs)}${isDrained ? ', all attempted' : ''}`,
          ...latency(others),
        ]),
      ],
    ),
  ],
  pull: ({ held, holdingMs, receivedPerSecond, alone, beside, during }) => [
    table(
      ['the other tenant', ...LATENCY, 'pull subscription'],
      [
        ['alone', ...latency(alone), ''],
        [`while ${held} deliveries are held`, ...latency(beside), `all were held after ${seconds(holdingMs)}`],
        ['while one client receives them', ...latency(during), `${receivedPerSecond} received per second`],
      ],
    ),
  ],
  memory: ({ wild, workers }) => [
    table(
      ['answer', 'endpoints', 'given'],
      Object.entries(wild).map(([name, { endpoints, answers }]) => [name, endpoints, answers]),
    ),
    table(
      ['resident memory, MiB', 'start', 'warm', 'end', 'most', 'growth per minute', 'flat'],
      workers.map(({ startMib, warmMib, endMib, mostMib, mibPerMinute, isFlat }, at) => {
        return [`worker ${at + 1}`, startMib, warmMib, endMib, mostMib, mibPerMinute, isFlat ? 'yes' : 'no']
      }),
    ),
  ],
  outage: ({ awayMs, calls, refused, accepted, firstMs, allMs, lost, repeated }) => [
    table(
      [
        'broker away',
        'accepted calls',
        'refused',
        'events meanwhile',
        'first POST after',
        'all after',
        'lost',
        'twice',
      ],
      [[seconds(awayMs), calls, refused, accepted, seconds(firstMs), seconds(allMs), lost, repeated]],
    ),
  ],
  commands: ({ byClients }) => [
    table(
      ['clients', 'side', 'per second', ...LATENCY, 'runs', 'processor time of a request, µs'],
      byClients.flatMap(({ clients, commands, baseline, ratio }) =>
        [
          { side: `commands accepted (${ratio} ×)`, ...commands },
          { side: 'bare server, one write', ...baseline },
        ].map(({ side, perSecond, runs, costUs, ...spread }) => {
          return [clients, side, perSecond, ...latency(spread), runs.join(', '), `${sumOf(costUs)}: ${parts(costUs)}`]
        }),
      ),
    ),
  ],
  console: ({ firstLoadBytes, allBytes }) => [
    table(
      ['files, with gzip', 'KiB'],
      [
        ['what the sign-in page loads', round(firstLoadBytes / 1_024)],
        ['all', round(allBytes / 1_024)],
      ],
    ),
  ],
}
