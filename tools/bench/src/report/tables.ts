import { BASELINES, bullmqSpread, ratioTo, SIDES, type SideName, type Workload } from '../figures/deliveries.ts'
import { toHops } from '../figures/latency.ts'
import { slowdownOf } from '../figures/listeners.ts'
import type { FigureName, Figures } from '../figures.ts'
import { describeCarriage } from '../measure/carriage.ts'
import type { CostUs } from '../measure/processor-cost.ts'
import { round, type Spread, sum } from '../measure/statistics.ts'

type Cell = string | number | undefined

/**
 * A Markdown table: its columns by heading, each with the cell of a row. A missing value is an empty cell. Blanks around a
 * heading tell two equal ones apart.
 */
export function table<Row>(rows: readonly Row[], columns: Readonly<Record<string, (row: Row) => Cell>>): string {
  const lines = rows.map((row) => Object.values(columns).map((cell) => cell(row) ?? ''))
  const heads = Object.keys(columns).map((head) => head.trim())
  return [heads, heads.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const parts = (values: Readonly<Record<string, number>>): string =>
  Object.entries(values)
    .map((part) => part.join(' '))
    .join(', ')
const sumOf = (costUs: CostUs): number => sum(Object.values(costUs))
const percent = (share: number | null): string => (share === null ? 'not known' : `${Math.round(share * 100)} %`)
const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`
const pairs = (runs: readonly { readonly p50Ms: number; readonly p99Ms: number }[]): string =>
  runs.map(({ p50Ms, p99Ms }) => `${p50Ms} / ${p99Ms}`).join(', ')

const LATENCY = {
  'p50, ms': ({ p50Ms }: { readonly p50Ms: number }) => p50Ms,
  'p99, ms': ({ p99Ms }: { readonly p99Ms: number }) => p99Ms,
}

const SIDE_NAMES: Readonly<Record<SideName, string>> = {
  switchhook: 'Switchhook',
  bullmq: 'BullMQ with axios',
  equal: 'BullMQ, equal work',
  durable: 'durable loop',
  packed: 'durable loop, 16 per message',
}

/** A column for each side. */
const column = <Row>(sides: readonly SideName[], cell: (side: SideName, row: Row) => Cell) =>
  Object.fromEntries(sides.map((side) => [SIDE_NAMES[side], (row: Row) => cell(side, row)]))

/** The generated tables of each figure in `docs/benchmarks.md`. The prose around them is written by hand. */
export const TABLES: { readonly [Name in FigureName]: (figure: Figures[Name]) => readonly string[] } = {
  deliveries: ({ workloads }) => {
    const all = Object.entries(workloads).map(([name, workload]) => ({ name, ...workload }))
    const each = all.flatMap(({ name, sides }) => SIDES.map((side) => ({ workload: name, side, ...sides[side] })))
    return [
      table(all, {
        'deliveries per second': ({ name }) => name,
        ...column(SIDES, (side, { sides }: Workload) => `${sides[side].perSecond} (${sides[side].runs.join(', ')})`),
      }),
      table(all, {
        'Switchhook relative to': ({ name }) => name,
        ...column(BASELINES, ratioTo),
        "spread of BullMQ's runs": (workload) => percent(bullmqSpread(workload)),
        "Switchhook's deliveries": ({ carriage }) => describeCarriage(carriage),
      }),
      table(each, {
        workload: ({ workload }) => workload,
        side: ({ side }) => SIDE_NAMES[side],
        'µs per delivery': ({ costUs }) => sumOf(costUs),
        'by process': ({ costUs }) => parts(costUs),
        'publisher, receiver': ({ harnessUs }) => parts(harnessUs),
        idle: ({ idle }) => percent(idle),
      }),
    ]
  },
  latency: ({ loads }) => [
    table(
      Object.entries(loads).flatMap(([name, load]) => {
        const { p50, p99 } = toHops(load)
        const from = `${name === 'event' ? 'event' : 'presence command'}, ${load.perSecond}/s`
        return [
          {
            from,
            side: 'Switchhook',
            ...load.ours,
            ratio: `${p50}, ${p99}`,
            carriage: describeCarriage(load.carriage),
          },
          { from, side: 'two bare hops', ...load.hops, ratio: '', carriage: '' },
        ]
      }),
      {
        from: ({ from }) => from,
        side: ({ side }) => side,
        ...LATENCY,
        'p50 and p99, to two bare hops': ({ ratio }) => ratio,
        'runs, p50 / p99': ({ runs }) => pairs(runs),
        "Switchhook's deliveries": ({ carriage }) => carriage,
      },
    ),
  ],
  listeners: (figure) => [
    table(
      (['nobody', 'one agent each', 'everything'] as const).map((name) => ({ name, ...figure.audiences[name] })),
      {
        listeners: ({ name }) => (name === 'nobody' ? 'none' : `${figure.listeners}, ${name}`),
        ...LATENCY,
        'relative to none': ({ name }) => slowdownOf(name, figure),
        'runs, p50 / p99': ({ runs }) => pairs(runs),
        'messages/s': ({ messagesPerSecond }) => messagesPerSecond,
        gaps: ({ gaps }) => gaps,
        'api, MiB': ({ apiMib }) => apiMib,
        µs: ({ costUs }) => parts(costUs),
      },
    ),
  ],
  platforms: ({ simulator, asterisk, idle }) => [
    table(['answer', 'hold', 'resume', 'hangup'] as const, {
      command: (command) => command,
      'simulator p50, ms': (command) => simulator[command].p50Ms,
      'p99, ms': (command) => simulator[command].p99Ms,
      'Asterisk p50, ms': (command) => asterisk[command].p50Ms,
      'p99, ms ': (command) => asterisk[command].p99Ms,
    }),
    `Processor time that nothing used during the runs: ${percent(idle)}.`,
  ],
  cost: ({ curves }) => [
    table(
      Object.entries(curves).flatMap(([curve, points]) => points.map((point) => ({ curve, ...point }))),
      {
        '': ({ curve }) => curve,
        ' ': ({ at }) => at,
        'deliveries per second': ({ perSecond }) => perSecond,
        'µs per delivery': ({ costUs }) => sumOf(costUs),
        'by process': ({ costUs }) => parts(costUs),
        'memory, MiB': ({ memoryMib }) => parts(memoryMib),
        idle: ({ idle }) => percent(idle),
      },
    ),
  ],
  limited: ({ neighbours, limits, unlimited, limited, runs, ratio }) => [
    table(
      [
        { side: 'without limits', ...unlimited, runs: pairs(runs.map((run) => run.unlimited)), ratio: '' },
        {
          side: Object.entries(limits).join('; ').replaceAll(',', ' '),
          ...limited,
          runs: pairs(runs.map((run) => run.limited)),
          ratio: `${ratio} ×`,
        },
      ],
      {
        [`${neighbours} other endpoints, ms`]: ({ side }) => side,
        p50: ({ p50Ms }) => p50Ms,
        p99: ({ p99Ms }) => p99Ms,
        'p99, to the same without limits': (row) => row.ratio,
        'runs, p50 / p99': (row) => row.runs,
      },
    ),
  ],
  noisy: ({ few, many }) => [
    table(
      [
        { side: 'Switchhook', ...few, ...few.ours },
        { side: 'BullMQ with axios', ...few, ...few.bullmq },
        { side: 'Switchhook', ...many, ...many.ours },
      ],
      {
        'p99 of the endpoints that answer, ms': ({ side, hanging, endpoints }) => `${side}, ${hanging} of ${endpoints}`,
        'all answer': ({ quiet }) => quiet.p99Ms,
        'one in five hangs, before the cool-down': ({ before, beforeRatio }) => `${before.p99Ms} (${beforeRatio} ×)`,
        'then ': ({ steady, steadyRatio }) => `${steady.p99Ms} (${steadyRatio} ×)`,
      },
    ),
  ],
  fairness: ({ events, perEvent, alone, hanging, bursts }) => [
    table<Spread & { who: string; published?: string; observed?: string }>(
      [
        { who: 'alone', ...alone },
        { who: `${hanging.deliveries} deliveries of one tenant hang`, ...hanging.others },
        ...bursts.map(({ hanging, publishedMs, observedMs, isDrained, others }) => ({
          who: `burst of ${events} events, ${hanging} of ${perEvent} endpoints hang`,
          published: seconds(publishedMs),
          observed: `${seconds(observedMs)}${isDrained ? ', all attempted' : ''}`,
          ...others,
        })),
      ],
      {
        'other tenants': ({ who }) => who,
        'publishing the burst took': ({ published }) => published,
        observed: ({ observed }) => observed,
        ...LATENCY,
      },
    ),
  ],
  pull: ({ held, holdingMs, receivedPerSecond, alone, beside, during }) => [
    table<Spread & { who: string; seen?: string }>(
      [
        { who: 'alone', ...alone },
        { who: `beside ${held} held deliveries`, ...beside, seen: `all were held after ${seconds(holdingMs)}` },
        { who: 'while one client receives them', ...during, seen: `${receivedPerSecond} received per second` },
      ],
      { 'the other tenant': ({ who }) => who, ...LATENCY, 'pull subscription': ({ seen }) => seen },
    ),
  ],
  memory: ({ wild, workers }) => [
    table(Object.entries(wild), {
      answer: ([name]) => name,
      endpoints: ([, { endpoints }]) => endpoints,
      given: ([, { answers }]) => answers,
    }),
    table([...workers.entries()], {
      'resident memory, MiB': ([at]) => `worker ${at + 1}`,
      start: ([, { startMib }]) => startMib,
      warm: ([, { warmMib }]) => warmMib,
      end: ([, { endMib }]) => endMib,
      most: ([, { mostMib }]) => mostMib,
      'growth per minute': ([, { mibPerMinute }]) => mibPerMinute,
      flat: ([, { isFlat }]) => (isFlat ? 'yes' : 'no'),
    }),
  ],
  outage: (figure) => [
    table([figure], {
      'broker away': ({ awayMs }) => seconds(awayMs),
      'accepted calls': ({ calls }) => calls,
      refused: ({ refused }) => refused,
      'events meanwhile': ({ accepted }) => accepted,
      'first POST after': ({ firstMs }) => seconds(firstMs),
      'all after': ({ allMs }) => seconds(allMs),
      lost: ({ lost }) => lost,
      twice: ({ repeated }) => repeated,
    }),
  ],
  commands: ({ byClients }) => [
    table(
      byClients.flatMap(({ clients, commands, baseline, ratio }) => [
        { clients, side: `commands accepted (${ratio} ×)`, ...commands },
        { clients, side: 'bare server, one write', ...baseline },
      ]),
      {
        clients: ({ clients }) => clients,
        side: ({ side }) => side,
        'per second': ({ perSecond }) => perSecond,
        ...LATENCY,
        runs: ({ runs }) => runs.join(', '),
        'processor time of a request, µs': ({ costUs }) => `${sumOf(costUs)}: ${parts(costUs)}`,
      },
    ),
  ],
  console: ({ firstLoadBytes, allBytes }) => [
    table(Object.entries({ 'what the sign-in page loads': firstLoadBytes, all: allBytes }), {
      'files, with gzip': ([name]) => name,
      KiB: ([, bytes]) => round(bytes / 1_024),
    }),
  ],
}
