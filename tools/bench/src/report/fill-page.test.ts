import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillPage } from './fill-page.ts'
import type { Results } from './results.ts'

const docs = join(import.meta.dirname, '../../../../docs')
const page = readFileSync(join(docs, 'benchmarks.md'), 'utf8')
const results = JSON.parse(readFileSync(join(docs, 'benchmarks', 'results.json'), 'utf8')) as Results

test('docs/benchmarks.md has the tables of the stored results', () => {
  expect(fillPage(page, results)).toBe(page)
})

test('a measurement replaces the tables of its figure and leaves the prose and the other figures alone', () => {
  const { outage } = results
  if (outage === undefined) throw new Error('no outage is stored')
  const lossy = { ...outage, figure: { ...outage.figure, lost: 12_345 } }
  const filled = fillPage(page, { ...results, outage: lossy })
  const [before, after] = [page.split('\n'), filled.split('\n')]
  const changed = after.filter((line, at) => line !== before[at])
  expect(changed).toHaveLength(2)
  for (const line of changed) expect(line).toContain('12345')
})

test('no value of the page is undefined or NaN', () => {
  expect(page).not.toMatch(/undefined|NaN|null|\[object/)
})

test('a figure that was measured on a busy machine says so above its tables', () => {
  const { noisy } = results
  if (noisy === undefined) throw new Error('no noisy neighbours are stored')
  expect(fillPage(page, { ...results, noisy: { ...noisy, loadAverage: 7 } })).toContain(
    '<!-- noisy -->\n\n**Measured on a busy machine**: load average 7 at the start.\n\n| ',
  )
})

test('what a command costs is compared with the least that it costs', () => {
  const { moderate } = results
  if (moderate === undefined) throw new Error('no moderate load is stored')
  const costUs = { api: 900, rabbitmq: 600 }
  const least = { latency: { count: 1, p50Ms: 2, p99Ms: 7, runs: [] }, costUs: { api: 400, rabbitmq: 600 } }
  const loads = moderate.figure.loads.slice(0, 1).map((load) => ({ ...load, costUs, least }))
  expect(fillPage(page, { ...results, moderate: { ...moderate, figure: { ...moderate.figure, loads } } })).toContain(
    '| 50 | 1500 | api 900, rabbitmq 600 | 1000 | api 400, rabbitmq 600 | 2 / 7 | 1.5 |',
  )
})

test('a page without a block of a figure is an error that names it', () => {
  expect(() => fillPage('# Benchmarks\n', results)).toThrow('has no block <!-- ')
})
