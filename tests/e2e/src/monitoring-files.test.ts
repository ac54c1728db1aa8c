import { alertLines, dashboardExpressions, documentedMetrics, guideAnchors } from './monitoring-files.ts'

const alerts = alertLines('alerts.yml', 'alert')

test('each alert links to its section of the operations guide', () => {
  expect(alerts.length).toBeGreaterThan(20)
  const links = alertLines('alerts.yml', 'runbook_url')
  expect(links).toEqual(alerts.map((name) => `docs/operations.md#${name.toLowerCase()}`))
  expect(links.filter((link) => !guideAnchors().includes(link))).toEqual([])
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
