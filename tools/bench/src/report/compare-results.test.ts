import { compareResults, otherFigures } from './compare-results.ts'
import type { Results } from './results.ts'

const taken = (p50Ms: number, ratio: number) =>
  ({
    latency: {
      figure: {
        loads: {
          event: { ours: { p50Ms, p99Ms: 10 }, hops: { p50Ms: 1, p99Ms: 10 } },
          presence: { ours: { p50Ms: 1, p99Ms: 1 }, hops: { p50Ms: 1, p99Ms: 1 } },
        },
      },
    },
    commands: { figure: { byClients: [{ clients: 32, ratio }] } },
  }) as unknown as Results

test('compares the medians of the turns, where less is better and where more is', () => {
  const before = [taken(9, 0.1), taken(2, 0.1), taken(2, 0.3)]
  const after = [taken(2.1, 0.2), taken(1, 0.2), taken(9, 0.2)]
  const rows = compareResults(before, after)
  expect(rows).toContainEqual(expect.objectContaining({ before: 2, after: 2.1, worse: 5 }))
  expect(rows).toContainEqual(expect.objectContaining({ before: 0.1, after: 0.2, worse: -50 }))
})

test('leaves out what only one of the versions measures, or measures in another form', () => {
  expect(compareResults([{}], [taken(1, 1)])).toEqual([])
  expect(compareResults([taken(1, 1)], [{}])).toEqual([])
  const other = { ...taken(1, 1), latency: { figure: { ours: { p50Ms: 1 } } } } as unknown as Results
  expect(compareResults([other], [taken(1, 1)])).toEqual([expect.objectContaining({ before: 1, after: 1 })])
  expect([otherFigures(other), otherFigures(taken(1, 1))]).toEqual([['latency'], []])
})

test('leaves out a baseline that only one of the versions has', () => {
  const [before, after] = [['bullmq'], ['bullmq', 'packed']].map((baselines) => {
    const sides = Object.fromEntries(
      ['switchhook', ...baselines].map((side) => [side, { perSecond: 100, costUs: { rabbitmq: 40 } }]),
    )
    return { deliveries: { figure: { workloads: { 'one to one': { sides } } } } } as unknown as Results
  })
  expect(compareResults([before ?? {}], [after ?? {}]).map(({ figure }) => figure)).toEqual([
    'one to one: the same (50 tenants, 1)',
    'RabbitMQ per delivery, one to one (one event per message, 1)',
  ])
})
