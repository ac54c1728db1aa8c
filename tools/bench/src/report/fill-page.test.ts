import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillPage } from './fill-page.ts'
import { renderPlots } from './plots.ts'
import type { Results } from './results.ts'

const docs = join(import.meta.dirname, '../../../../docs')
const page = readFileSync(join(docs, 'benchmarks.md'), 'utf8')
const results = JSON.parse(readFileSync(join(docs, 'benchmarks', 'results.json'), 'utf8')) as Results

test('docs/benchmarks.md has the tables of the stored results', () => {
  expect(fillPage(page, results)).toBe(page)
})

test('a measurement replaces the tables of its figure and leaves the prose and the other figures alone', () => {
  const { latency } = results
  if (latency === undefined) throw new Error('no latency is stored')
  const slower = { ...latency, figure: { ...latency.figure, ours: { p50Ms: 12_345, p99Ms: 23_456, runs: [] } } }
  const filled = fillPage(page, { ...results, latency: slower })
  expect(filled).toContain('| Switchhook | 12345 | 23456 |')
  const [before, after] = [page.split('\n'), filled.split('\n')]
  expect(after.filter((line, at) => line !== before[at])).toHaveLength(2)
})

test('every picture of the page is drawn, and no value is undefined or NaN', () => {
  const plots = renderPlots(results)
  const shown = [...page.matchAll(/\(images\/benchmark-([a-z]+)\.svg\)/g)].map(([, name]) => name)
  expect(shown.toSorted()).toEqual(Object.keys(plots).toSorted())
  for (const text of [page, ...Object.values(plots)]) expect(text).not.toMatch(/undefined|NaN|null|\[object/)
})

test('a page without a block of a figure is an error that names it', () => {
  expect(() => fillPage('# Benchmarks\n', results)).toThrow('has no block <!-- ')
})
