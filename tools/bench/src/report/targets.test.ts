import { sampleFigures, sampleResults } from './sample-results.ts'
import { compareWithTargets } from './targets.ts'

const { deliveries, latency, noisy, outage, memory } = sampleFigures
const verdicts = (results: Parameters<typeof compareWithTargets>[0]): string[] =>
  compareWithTargets(results).map(({ verdict }) => verdict)

test('without any figure nothing is measured, and nothing is claimed', () => {
  expect(verdicts({})).toEqual([...Array<string>(4).fill('not measured'), 'tested', 'not measured', 'not measured'])
})

test('figures that meet their targets exactly have met them', () => {
  expect(verdicts(sampleResults())).toEqual(['met', 'met', 'met', 'met', 'tested', 'met', 'met'])
})

test.each<[string, Parameters<typeof sampleResults>[0], number, string]>([
  ['too few for BullMQ', { deliveries: { ...deliveries, toBullmq: 1.99 } }, 0, 'not met'],
  ['too few for the bare loop', { deliveries: { ...deliveries, toBare: 0.69 } }, 1, 'not met'],
  ['a late median', { latency: { ...latency, ours: { ...latency.ours, p50Ms: 10.1 } } }, 2, 'not met'],
  ['a late end', { latency: { ...latency, ours: { ...latency.ours, p99Ms: 50.1 } } }, 2, 'not met'],
  [
    'neighbours that suffer at first',
    { noisy: { ...noisy, few: { ...noisy.few, ours: { ...noisy.few.ours, beforeRatio: 1.3 } } } },
    3,
    'not met',
  ],
  [
    'neighbours that suffer when many hang',
    { noisy: { ...noisy, many: { ...noisy.many, ours: { ...noisy.many.ours, steadyRatio: 1.3 } } } },
    3,
    'not met',
  ],
  ['a loss', { outage: { ...outage, lost: 1 } }, 5, 'not met'],
  ['a shorter outage', { outage: { ...outage, awayMs: 60_000 } }, 5, 'in part'],
  ['a loss in a shorter outage', { outage: { ...outage, awayMs: 60_000, lost: 1 } }, 5, 'not met'],
  [
    'one worker of two that grows',
    {
      memory: { ...memory, workers: [...memory.workers, ...memory.workers.map((own) => ({ ...own, isFlat: false }))] },
    },
    6,
    'not met',
  ],
])('%s is judged so', (_name, over, row, verdict) => {
  const judged = verdicts(sampleResults(over))
  expect(judged[row]).toBe(verdict)
  expect(judged.filter((one) => one !== 'met' && one !== 'tested')).toHaveLength(1)
})
