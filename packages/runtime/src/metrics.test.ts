import { createMetrics } from './metrics.ts'

/** The lines of one metric. */
async function linesOf(metrics: { text(): Promise<string> }, name: string): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith(name))
}

test('a series is exported as zero from the start', async () => {
  const metrics = createMetrics('worker')
  metrics.counter('things_total', 'Things.').of({ kind: 'good' })
  expect(await linesOf(metrics, 'things_total')).toEqual(['things_total{kind="good",service="worker"} 0'])
})

test('each series has its own count, and equal labels name the same series', async () => {
  const metrics = createMetrics('worker')
  const things = metrics.counter('things_total', 'Things.')
  things.of({ kind: 'good' }).add()
  things.of({ kind: 'good' }).add(2)
  things.of({ kind: 'bad' }).add()
  expect(await linesOf(metrics, 'things_total')).toEqual([
    'things_total{kind="good",service="worker"} 3',
    'things_total{kind="bad",service="worker"} 1',
  ])
})

test('a histogram’s buckets are cumulative, and a value on a bound belongs to it', async () => {
  const metrics = createMetrics('worker')
  const taken = metrics.histogram('taken_seconds', 'Time taken.', [0.1, 1]).of({})
  for (const value of [0.05, 0.1, 0.5, 7]) taken.observe(value)
  expect(await linesOf(metrics, 'taken_seconds')).toEqual([
    'taken_seconds_bucket{le="0.1",service="worker"} 2',
    'taken_seconds_bucket{le="1",service="worker"} 3',
    'taken_seconds_bucket{le="+Inf",service="worker"} 4',
    'taken_seconds_sum{service="worker"} 7.65',
    'taken_seconds_count{service="worker"} 4',
  ])
})

test('a gauge is read at each scrape, and an unknown value is left out, not exported as zero', async () => {
  const metrics = createMetrics('worker')
  let known: number | undefined = 4
  metrics.gauge('left', 'The remainder.', () => known)
  metrics.gauge('failing', 'Never known.', () => Promise.reject(new Error('Redis is away')))
  expect(await linesOf(metrics, 'left')).toEqual(['left{service="worker"} 4'])
  known = undefined
  expect(await linesOf(metrics, 'left')).toEqual([])
  expect(await linesOf(metrics, 'failing')).toEqual([])
})

test('every metric has its help and type', async () => {
  const metrics = createMetrics('worker')
  metrics.counter('things_total', 'Things.')
  const text = await metrics.text()
  expect(text).toContain('# HELP things_total Things.')
  expect(text).toContain('# TYPE things_total counter')
})
