import { renderPlots } from './plots.ts'
import { renderReport } from './report.ts'
import { sampleFigures, sampleResults, takenOf } from './sample-results.ts'

test('a report without figures has its targets, and no section', () => {
  const report = renderReport({})
  expect(report).toContain('| not measured |')
  expect(report.match(/^## .*/gm)).toEqual(['## Targets', '## Date and machine of each figure'])
})

test('every figure has a section, a date and a machine', () => {
  const report = renderReport(sampleResults())
  expect(report.match(/^## .*/gm)).toHaveLength(2 + Object.keys(sampleFigures).length)
  for (const name of Object.keys(sampleFigures)) expect(report).toContain(`| ${name} | 2026-11-21 08:00 | 2 cores`)
})

test('every picture that the report shows is drawn', () => {
  const drawn = Object.keys(renderPlots(sampleResults())).map((name) => `images/benchmark-${name}.svg`)
  const shown = [...renderReport(sampleResults()).matchAll(/\((images\/[^)]+)\)/g)].map(([, path]) => path)
  expect(shown.toSorted()).toEqual(drawn.toSorted())
})

test('no value in a report or a picture is undefined or NaN', () => {
  const texts = [renderReport(sampleResults()), ...Object.values(renderPlots(sampleResults()))]
  for (const text of texts) expect(text).not.toMatch(/undefined|NaN|null|\[object/)
})

test('a single figure is reported alone', () => {
  const results = { latency: takenOf(sampleFigures.latency) }
  expect(renderReport(results).match(/^## .*/gm)).toHaveLength(3)
  expect(Object.keys(renderPlots(results))).toEqual(['latency'])
})
