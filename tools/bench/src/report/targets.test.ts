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
    Object.entries({ switchhook: 1, ...ratios }).map(([side, ratio]) => [side, { perSecond: 1_000 / ratio }]),
  ),
})
const deliveries = (oneToOne: Readonly<Record<string, number>>, twentyToOne: Readonly<Record<string, number>>) => ({
  workloads: {
    'one to one': workload(oneToOne),
    'one subscription': workload({ bullmq: 9, equal: 9, durable: 9 }),
    'twenty to one': workload(twentyToOne),
  },
})
const fast = { bullmq: 2, equal: 2.2, durable: 1.2 }
const quick = { bullmq: 1.4, equal: 2, durable: 1 }
const spread = (p50Ms: number, p99Ms: number) => ({ p50Ms, p99Ms })
const neighbours = (beforeRatio: number, steadyRatio: number) => ({ ours: { beforeRatio, steadyRatio } })

test.each<[string, FigureName, unknown, readonly string[]]>([
  ['ratios at their targets', 'deliveries', deliveries(quick, fast), ['met', 'met']],
  ['one ratio too low', 'deliveries', deliveries({ ...quick, durable: 0.9 }, fast), ['met', 'not met']],
  ['the other workload too low', 'deliveries', deliveries(quick, { ...fast, equal: 2.1 }), ['not met', 'met']],
  ['commands', 'commands', { byClients: [{ clients: 32, ratio: 0.15 }] }, ['met']],
  [
    'too few commands with one number of clients',
    'commands',
    { byClients: [{ ratio: 0.2 }, { ratio: 0.1 }] },
    ['not met'],
  ],
  ['latency', 'latency', { ours: spread(3, 12) }, ['met']],
  ['a late median', 'latency', { ours: spread(3.1, 12) }, ['not met']],
  ['a late end', 'latency', { ours: spread(3, 12.1) }, ['not met']],
  ['neighbours', 'noisy', { few: neighbours(1.1, 1), many: neighbours(1, 1.1) }, ['met']],
  ['neighbours that suffer when many hang', 'noisy', { few: neighbours(1, 1), many: neighbours(1, 1.2) }, ['not met']],
  ['a burst', 'fairness', { events: 100_000, bursts: [{ others: spread(50, 300) }] }, ['met']],
  ['a smaller burst', 'fairness', { events: 50_000, bursts: [{ others: spread(50, 300) }] }, ['in part']],
  ['a burst that delays others', 'fairness', { events: 50_000, bursts: [{ others: spread(50, 301) }] }, ['not met']],
  ['an outage', 'outage', { awayMs: 600_000, allMs: 1, lost: 0 }, ['met']],
  ['a shorter outage', 'outage', { awayMs: 60_000, allMs: 1, lost: 0 }, ['in part']],
  ['a loss in a shorter outage', 'outage', { awayMs: 60_000, allMs: 1, lost: 1 }, ['not met']],
  ['a worker that grows', 'memory', { workers: [{ isFlat: true }, { isFlat: false }] }, ['not met']],
  ['a console that is too large', 'console', { firstLoadBytes: 1, allBytes: 201 * 1_024 }, ['not met']],
])('%s', (_name, figure, value, verdicts) => {
  expect(verdictsOf(taken(figure, value)).filter((verdict) => verdict !== 'tested')).toEqual(verdicts)
})
