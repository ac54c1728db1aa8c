import { BASELINES, ratioTo, type Workload } from '../figures/deliveries.ts'
import { toHops } from '../figures/latency.ts'
import { slowdownOf } from '../figures/listeners.ts'
import type { Load } from '../figures/moderate.ts'
import type { FigureName, Figures } from '../figures.ts'
import { round, sum } from '../measure/statistics.ts'
import type { Results } from './results.ts'

const atMost = (limits: readonly number[], unit = '') => ({ sign: '≤', limits, unit }) as const
const atLeast = (limits: readonly number[]) => ({ sign: '≥', limits, unit: '' }) as const

/** Measured values by what they were measured on (`''`: one thing only). Each list is compared with the same limits. */
type Measured = Readonly<Record<string, readonly number[]>>

interface TargetRow {
  readonly figure: string
  readonly target: string
  readonly measured: string
  /** `in part`: measured for less than the target. `tested`: shown by tests, not by a figure. */
  readonly verdict: 'met' | 'not met' | 'in part' | 'tested' | 'not measured'
  /** Of a figure with limits. */
  readonly sign?: '≥' | '≤'
  readonly values?: Measured
}

const BURST_EVENTS = 100_000
const OUTAGE_MS = 600_000
const MODERATE = [
  { perSecond: 100, p50: 2, p99: 2.5, costMs: 5 },
  { perSecond: 300, p50: 2.5, p99: 2.5, costMs: 3 },
  { perSecond: 500, p50: 2.5, p99: 2.5, costMs: 2.2 },
]

/** Compares the results with the targets, which are for two cores that also run broker, Redis and receivers. */
export function compareWithTargets(results: Results): readonly TargetRow[] {
  function row<Name extends FigureName>(
    name: Name,
    figure: string,
    target: string,
    look: (figure: Figures[Name]) => Omit<TargetRow, 'figure' | 'target'>,
  ): TargetRow {
    const taken = results[name]
    return { figure, target, ...(taken ? look(taken.figure) : { measured: '', verdict: 'not measured' }) }
  }

  function limit<Name extends FigureName>(
    name: Name,
    figure: string,
    { sign, limits, unit }: ReturnType<typeof atMost | typeof atLeast>,
    valuesOf: (figure: Figures[Name]) => Measured,
    isWhole: (figure: Figures[Name]) => boolean = () => true,
  ): TargetRow {
    const target = limits.map((value) => `${sign} ${value.toLocaleString('en')}${unit}`).join(', ')
    const fits = (value: number, at: number): boolean =>
      sign === '≤' ? value <= (limits[at] ?? 0) : value >= (limits[at] ?? Infinity)
    return row(name, figure, target, (taken) => {
      const values = valuesOf(taken)
      const measured = Object.entries(values).map(([on, own]) => `${on}${on === '' ? '' : ': '}${own.join(', ')}`)
      const isMet = Object.values(values).every((own) => own.every(fits))
      const verdict = isMet ? (isWhole(taken) ? 'met' : 'in part') : 'not met'
      return { measured: measured.join('; '), verdict, sign, values }
    })
  }

  return [
    limit(
      'deliveries',
      'twenty to one: to BullMQ, to equal work, to the durable loop, to the loop of 16 per message',
      atLeast([2, 2.2, 1.2, 0.7]),
      ({ workloads }) => each({ '': workloads['twenty to one'] }, ratios),
    ),
    limit('deliveries', 'one to one: the same', atLeast([1.4, 2, 1, 0.7]), ({ workloads }) =>
      each(
        {
          '50 tenants': workloads['one to one'],
          'events in packets': workloads['one to one, events in packets'],
          'one subscription': workloads['one subscription'],
        },
        ratios,
      ),
    ),
    limit('deliveries', 'RabbitMQ per delivery, one to one', atMost([40], ' µs'), ({ workloads }) =>
      each(
        {
          'one event per message': workloads['one to one'],
          'events in packets': workloads['one to one, events in packets'],
        },
        rabbitmqUs,
      ),
    ),
    limit('commands', 'commands per second, to a bare server with one write', atLeast([0.15]), ({ byClients }) =>
      Object.fromEntries(byClients.map(({ clients, ratio }) => [`${clients} clients`, [ratio]])),
    ),
    limit('latency', 'event published to first POST, at 500 a second: p50, p99', atMost([3, 12], ' ms'), ({ loads }) =>
      only(loads.event.ours.p50Ms, loads.event.ours.p99Ms),
    ),
    limit('latency', 'the same, to two bare hops of quorum queues', atMost([1.4, 2]), ({ loads }) =>
      only(...Object.values(toHops(loads.event))),
    ),
    limit('latency', 'presence command to first POST, at 100 a second: the same', atMost([1.4, 2]), ({ loads }) =>
      only(...Object.values(toHops(loads.presence))),
    ),
    ...MODERATE.flatMap(({ perSecond, p50, p99, costMs }) => [
      limit(
        'moderate',
        `presence command to first POST, at ${perSecond} a second, to two bare hops: p50, p99`,
        atMost([p50, p99]),
        ({ loads }) => at(perSecond, loads, (load) => Object.values(toHops(load))),
      ),
      limit(
        'moderate',
        `processor time of all processes for it, at ${perSecond} a second`,
        atMost([costMs], ' ms'),
        ({ loads }) => at(perSecond, loads, ({ costUs }) => [round(sum(Object.values(costUs)) / 1_000, 2)]),
      ),
    ]),
    limit('listeners', 'event to first POST with 200 listeners, relative to none', atMost([1.05]), (figure) => ({
      'one agent each': [slowdownOf('one agent each', figure)],
      everything: [slowdownOf('everything', figure)],
    })),
    limit('console', 'the console with gzip: first load, all files', atMost([170, 200], ' KiB'), (figure) =>
      only(round(figure.firstLoadBytes / 1_024), round(figure.allBytes / 1_024)),
    ),
    limit(
      'noisy',
      'p99 of healthy endpoints while 20 % hang, to p99 while all answer: before the cool-down, then',
      atMost([1.1, 1.1]),
      ({ few, many }) =>
        Object.fromEntries(
          [few, many].map(({ hanging, endpoints, ours }) => [
            `${hanging} of ${endpoints}`,
            [ours.beforeRatio, ours.steadyRatio],
          ]),
        ),
    ),
    limit(
      'sweep',
      "another tenant's p99 beside endpoints that answer now and then, to p99 while all answer",
      atMost([1.5]),
      ({ rows }) =>
        Object.fromEntries(rows.map(({ endpoints, answers, ratio }) => [`${endpoints}, ${answers}`, [ratio]])),
    ),
    limit(
      'limited',
      'p99 of other endpoints while a subscription is at its limits, relative to no limits',
      atMost([1.1]),
      ({ ratio }) => only(ratio),
    ),
    limit(
      'fairness',
      'other tenants while 1,000 deliveries of one tenant hang, relative to alone: p50, p99',
      atMost([1.1, 1.5]),
      ({ alone, hanging: { others } }) =>
        only(round(others.p50Ms / alone.p50Ms, 2), round(others.p99Ms / alone.p99Ms, 2)),
    ),
    limit(
      'fairness',
      "other tenants' p99 during a burst of 100,000 events of one tenant",
      atMost([300], ' ms'),
      ({ bursts }) =>
        Object.fromEntries(bursts.map(({ hanging, others }) => [`${hanging} endpoints hang`, [others.p99Ms]])),
      ({ events }) => events >= BURST_EVENTS,
    ),
    limit(
      'pull',
      "another tenant's p99 while 100,000 deliveries are held, relative to alone",
      atMost([1.1]),
      (figure) => only(round(figure.beside.p99Ms / figure.alone.p99Ms, 2)),
    ),
    limit('pull', 'held deliveries that one client receives per second', atLeast([2_000]), (figure) =>
      only(figure.receivedPerSecond),
    ),
    {
      figure: 'deliveries lost by kill -9 of each service, the broker and Redis',
      target: '0',
      measured: 'by `tests/e2e/src/faults.e2e.test.ts`',
      verdict: 'tested',
    },
    row('outage', 'recovery after the broker was away for 10 minutes', 'automatic, nothing lost', (outage) => ({
      measured: `away ${Math.round(outage.awayMs / 1_000)} s: all delivered ${round(outage.allMs / 1_000)} s after its return, lost ${outage.lost}`,
      verdict: outage.lost > 0 ? 'not met' : outage.awayMs < OUTAGE_MS ? 'in part' : 'met',
    })),
    row('memory', 'worker memory with 1000 endpoints, some with hostile answers', 'flat', ({ workers }) => ({
      measured: workers.map(({ warmMib, endMib }) => `${warmMib} → ${endMib} MiB`).join(', '),
      verdict: workers.every(({ isFlat }) => isFlat) ? 'met' : 'not met',
    })),
  ]
}

const only = (...values: readonly number[]): Measured => ({ '': values })

const at = (perSecond: number, loads: readonly Load[], valuesOf: (load: Load) => readonly number[]): Measured =>
  Object.fromEntries(loads.flatMap((load) => (load.perSecond === perSecond ? [['', valuesOf(load)]] : [])))

/** Results of an earlier version may lack a workload. */
const each = (
  workloads: Readonly<Record<string, Workload | undefined>>,
  valuesOf: (workload: Workload) => readonly number[],
): Measured =>
  Object.fromEntries(
    Object.entries(workloads).flatMap(([name, workload]) =>
      workload === undefined ? [] : [[name, valuesOf(workload)]],
    ),
  )

const rabbitmqUs = ({ sides }: Workload): readonly number[] => [sides.switchhook.costUs['rabbitmq'] ?? Infinity]

const ratios = (workload: Workload): readonly number[] => BASELINES.map((baseline) => ratioTo(baseline, workload))
