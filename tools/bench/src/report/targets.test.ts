import type { FigureName } from '../figures.ts'
import type { Results } from './results.ts'
import { compareWithTargets } from './targets.ts'

/** The results of one figure, with the fields that its target reads. */
const taken = (name: FigureName, figure: unknown): Results => ({ [name]: { figure } })

const verdictsOf = (results: Results): string[] =>
  compareWithTargets(results)
    .map(({ verdict }) => verdict)
    .filter((verdict) => verdict !== 'not measured')

test('without any figure nothing is claimed, except what tests show', () => {
  expect(verdictsOf({})).toEqual(['tested'])
})

/** Switchhook delivers 1 000 a second; the baselines, so many that it is `ratios` times as fast. */
const workload = (ratios: Readonly<Record<string, number>>) => ({
  sides: Object.fromEntries(
    Object.entries({ switchhook: 1, ...ratios }).map(([side, ratio]) => [
      side,
      { perSecond: 1_000 / ratio, costUs: { rabbitmq: 40 } },
    ]),
  ),
})
const deliveries = (oneToOne: Readonly<Record<string, number>>, twentyToOne: Readonly<Record<string, number>>) => ({
  workloads: {
    'one to one': workload(oneToOne),
    'one to one, events in packets': workload(oneToOne),
    'one subscription': workload({ bullmq: 9, equal: 9, durable: 9, packed: 9 }),
    'twenty to one': workload(twentyToOne),
  },
})
const fast = { bullmq: 2, equal: 2.2, durable: 1.2, packed: 0.7 }
const quick = { bullmq: 1.4, equal: 2, durable: 1, packed: 0.7 }
const spread = (p50Ms: number, p99Ms: number) => ({ p50Ms, p99Ms })
/** The bare hops need 2.15 and 6 ms for events, 1 and 2 ms for commands. */
const latency = (event: object, presence: object) => ({
  loads: { event: { ours: event, hops: spread(2.15, 6) }, presence: { ours: presence, hops: spread(1, 2) } },
})
const burst = (events: number, p99Ms: number) => ({
  events,
  alone: spread(4, 10),
  hanging: { others: spread(4.4, 15) },
  bursts: [{ hanging: 0, others: spread(50, p99Ms) }],
})
const pull = (p99Ms: number, receivedPerSecond: number) => ({
  alone: spread(4, 10),
  beside: spread(4, p99Ms),
  receivedPerSecond,
})
const moderate = (p99Ms: number, apiUs: number) => ({
  loads: [{ perSecond: 300, ours: spread(5, p99Ms), hops: spread(2, 4), costUs: { api: apiUs, rabbitmq: 1_000 } }],
})
const neighbours = (beforeRatio: number, steadyRatio: number) => ({ ours: { beforeRatio, steadyRatio } })

test.each<[string, FigureName, unknown, readonly string[]]>([
  ['ratios at their targets', 'deliveries', deliveries(quick, fast), ['met', 'met', 'met']],
  ['one ratio too low', 'deliveries', deliveries({ ...quick, packed: 0.6 }, fast), ['met', 'not met', 'met']],
  ['the other workload too low', 'deliveries', deliveries(quick, { ...fast, equal: 2.1 }), ['not met', 'met', 'met']],
  ['commands', 'commands', { byClients: [{ clients: 32, ratio: 0.15 }] }, ['met']],
  [
    'too few commands with one number of clients',
    'commands',
    { byClients: [{ ratio: 0.2 }, { ratio: 0.1 }] },
    ['not met'],
  ],
  ['latency', 'latency', latency(spread(3, 12), spread(1.4, 4)), ['met', 'met', 'met']],
  ['a late median', 'latency', latency(spread(3.1, 12), spread(1.4, 4)), ['not met', 'not met', 'met']],
  ['a late end', 'latency', latency(spread(3, 12.1), spread(1.4, 4)), ['not met', 'not met', 'met']],
  ['a slow command', 'latency', latency(spread(3, 12), spread(1.4, 4.1)), ['met', 'met', 'not met']],
  ['a command at moderate load', 'moderate', moderate(10, 2_000), Array(6).fill('met')],
  [
    'a late command at moderate load',
    'moderate',
    moderate(10.1, 2_000),
    ['met', 'met', 'not met', 'met', 'met', 'met'],
  ],
  [
    'a costly command at moderate load',
    'moderate',
    moderate(10, 2_010),
    ['met', 'met', 'met', 'not met', 'met', 'met'],
  ],
  ['neighbours', 'noisy', { few: neighbours(1.1, 1), many: neighbours(1, 1.1) }, ['met']],
  ['neighbours that suffer when many hang', 'noisy', { few: neighbours(1, 1), many: neighbours(1, 1.2) }, ['not met']],
  ['neighbours of limits', 'limited', { ratio: 1.1 }, ['met']],
  ['neighbours of limits that suffer', 'limited', { ratio: 1.11 }, ['not met']],
  ['a burst', 'fairness', burst(100_000, 300), ['met', 'met']],
  ['a smaller burst', 'fairness', burst(50_000, 300), ['met', 'in part']],
  ['a burst that delays others', 'fairness', burst(50_000, 301), ['met', 'not met']],
  [
    'hanging deliveries that delay others',
    'fairness',
    { ...burst(100_000, 300), hanging: { others: spread(4.5, 15) } },
    ['not met', 'met'],
  ],
  ['held deliveries', 'pull', pull(11, 2_000), ['met', 'met']],
  ['held deliveries that delay others, and are received slowly', 'pull', pull(12, 1_999), ['not met', 'not met']],
  ['an outage', 'outage', { awayMs: 600_000, allMs: 1, lost: 0 }, ['met']],
  ['a shorter outage', 'outage', { awayMs: 60_000, allMs: 1, lost: 0 }, ['in part']],
  ['a loss in a shorter outage', 'outage', { awayMs: 60_000, allMs: 1, lost: 1 }, ['not met']],
  ['a worker that grows', 'memory', { workers: [{ isFlat: true }, { isFlat: false }] }, ['not met']],
  ['a console that is too large', 'console', { firstLoadBytes: 1, allBytes: 201 * 1_024 }, ['not met']],
])('%s', (_name, figure, value, verdicts) => {
  expect(verdictsOf(taken(figure, value)).filter((verdict) => verdict !== 'tested')).toEqual(verdicts)
})
