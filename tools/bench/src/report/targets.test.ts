import type { DeliveriesFigure, SideName, Workload, WorkloadName } from '../figures/deliveries.ts'
import { sampleFigures, sampleResults, workload } from './sample-results.ts'
import { compareWithTargets } from './targets.ts'

const { commands, deliveries, latency, listeners, noisy, fairness, outage, memory } = sampleFigures

const withWorkload = (name: WorkloadName, changed: Workload): DeliveriesFigure => ({
  ...deliveries,
  workloads: { ...deliveries.workloads, [name]: changed },
})

const { console: built } = sampleFigures
const { everything: loud } = listeners.audiences

/** A baseline that is twice as fast in one workload. */
const slower = (name: WorkloadName, baseline: SideName) => {
  const { sides, ...rest } = deliveries.workloads[name]
  const faster = { ...sides[baseline], perSecond: sides[baseline].perSecond * 2 }
  return { deliveries: withWorkload(name, { ...rest, sides: { ...sides, [baseline]: faster } }) }
}

const burst = (latency: { readonly p50Ms: number; readonly p99Ms: number }) => ({
  ...fairness,
  bursts: fairness.bursts.map((each) => ({ ...each, others: { ...each.others, ...latency } })),
})

const verdicts = (results: Parameters<typeof compareWithTargets>[0]): string[] =>
  compareWithTargets(results).map(({ verdict }) => verdict)

test('without any figure nothing is measured, and nothing is claimed', () => {
  expect(verdicts({})).toEqual([...Array<string>(9).fill('not measured'), 'tested', 'not measured', 'not measured'])
})

test('figures exactly at their targets meet them', () => {
  expect(verdicts(sampleResults())).toEqual([...Array<string>(9).fill('met'), 'tested', 'met', 'met'])
})

test.each<[string, Parameters<typeof sampleResults>[0], number, string]>([
  ['too few for BullMQ at twenty to one', slower('twenty to one', 'bullmq'), 0, 'not met'],
  ['too few for equal work at one to one', slower('one to one', 'equal'), 1, 'not met'],
  ['too few for the durable loop with one subscription', slower('one subscription', 'durable'), 1, 'not met'],
  ['one to one too far behind', { deliveries: withWorkload('one to one', workload(5_500)) }, 2, 'not met'],
  [
    'too few commands with one number of clients',
    { commands: { ...commands, byClients: commands.byClients.map((each) => ({ ...each, ratio: 0.17 })) } },
    3,
    'not met',
  ],
  ['a late median', { latency: { ...latency, ours: { ...latency.ours, p50Ms: 4.1 } } }, 4, 'not met'],
  ['a late end', { latency: { ...latency, ours: { ...latency.ours, p99Ms: 15.1 } } }, 4, 'not met'],
  [
    'listeners that delay deliveries',
    { listeners: { ...listeners, audiences: { ...listeners.audiences, everything: { ...loud, p99Ms: 16 } } } },
    5,
    'not met',
  ],
  ['a console that is too large', { console: { ...built, allBytes: 201 * 1_024 } }, 6, 'not met'],
  [
    'neighbours that suffer at first',
    { noisy: { ...noisy, few: { ...noisy.few, ours: { ...noisy.few.ours, beforeRatio: 1.3 } } } },
    7,
    'not met',
  ],
  [
    'neighbours that suffer when many hang',
    { noisy: { ...noisy, many: { ...noisy.many, ours: { ...noisy.many.ours, steadyRatio: 1.3 } } } },
    7,
    'not met',
  ],
  ['a burst that delays the median of others', { fairness: burst({ p50Ms: 101, p99Ms: 900 }) }, 8, 'not met'],
  ['a burst that delays the p99 of others', { fairness: burst({ p50Ms: 90, p99Ms: 1_001 }) }, 8, 'not met'],
  ['a smaller burst', { fairness: { ...fairness, events: 50_000 } }, 8, 'in part'],
  ['a loss', { outage: { ...outage, lost: 1 } }, 10, 'not met'],
  ['a shorter outage', { outage: { ...outage, awayMs: 60_000 } }, 10, 'in part'],
  ['a loss in a shorter outage', { outage: { ...outage, awayMs: 60_000, lost: 1 } }, 10, 'not met'],
  [
    'one worker of two that grows',
    {
      memory: { ...memory, workers: [...memory.workers, ...memory.workers.map((own) => ({ ...own, isFlat: false }))] },
    },
    11,
    'not met',
  ],
])('%s', (_name, over, row, verdict) => {
  const judged = verdicts(sampleResults(over))
  expect(judged[row]).toBe(verdict)
  expect(judged.filter((one) => one !== 'met' && one !== 'tested')).toHaveLength(1)
})
