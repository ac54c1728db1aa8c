import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import {
  alertAnchors,
  alertExpressions,
  alertLines,
  dashboardExpressions,
  documentedMetrics,
  root,
} from './monitoring-files.ts'

const alerts = alertLines('alerts.yml', 'alert')

test('each alert links to its section of the page of alerts', () => {
  expect(alerts.length).toBeGreaterThan(20)
  const links = alertLines('alerts.yml', 'runbook_url')
  expect(links).toEqual(alerts.map((name) => `docs/alerts.md#${name.toLowerCase()}`))
  expect(links.filter((link) => !alertAnchors().includes(link))).toEqual([])
})

test('each alert has a test in which it fires and one in which it does not', () => {
  const cases = alertLines('alerts.test.yml', 'name')
  expect(cases).toEqual(alerts.flatMap((name) => [`${name} fires`, `${name} stays quiet`]))
})

test('every Switchhook metric is documented once and shown on the dashboard', () => {
  const documented = documentedMetrics()
  expect(documented).toEqual([...new Set(documented)])
  const used = dashboardExpressions()
    .map(([, expression]) => expression)
    .join(' ')
  expect(documented.filter((name) => !used.includes(name))).toEqual([])
})

test('every alert keeps the cluster and the namespace of its installation', () => {
  const aggregations = alertExpressions().flatMap((expression) => [
    ...expression.matchAll(/\b(?:sum|max|min|count|group|avg)\b(?! by \(cluster, namespace[,)])/g),
  ])
  expect(aggregations.map(({ input, index }) => input.slice(index, index + 60))).toEqual([])
})

test('every dashboard expression selects the installation', () => {
  const metrics = /\b(?:switchhook|rabbitmq|nodejs|process)_\w+|\bup\b/g
  const unselected = dashboardExpressions().flatMap(([title, expression]) =>
    [...expression.matchAll(metrics)]
      .map(({ index, 0: name }) => expression.slice(index + name.length))
      .filter((rest) => !/^\{[^}]*namespace=~"\$namespace",cluster=~"\$cluster"\}/.test(rest))
      .map(() => title),
  )
  expect(unselected).toEqual([])
})

test('make alerts links each alert to the runbook at the given base', async () => {
  const made = await promisify(execFile)('make', ['--silent', 'alerts', 'RUNBOOKS=https://wiki.example/ops/'], {
    cwd: root,
  })
  const links = [...made.stdout.matchAll(/runbook_url: (.*)/g)].map(([, link]) => link)
  expect(links).toEqual(alerts.map((name) => `https://wiki.example/ops/alerts.md#${name.toLowerCase()}`))
})
