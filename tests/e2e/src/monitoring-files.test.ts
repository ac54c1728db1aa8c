import { alertLines, dashboardExpressions, documentedMetrics, guideAnchors } from './monitoring-files.ts'

const alerts = alertLines('alerts.yml', 'alert')

test('each alert links to what the guide says of it', () => {
  expect(alerts.length).toBeGreaterThan(20)
  const links = alertLines('alerts.yml', 'runbook_url')
  expect(links).toEqual(alerts.map((name) => `docs/operations.md#${name.toLowerCase()}`))
  expect(links.filter((link) => !guideAnchors().includes(link))).toEqual([])
})

test('each alert is tested in a case in which it fires and in one in which it does not', () => {
  const cases = alertLines('alerts.test.yml', 'name')
  expect(cases).toEqual(alerts.flatMap((name) => [`${name} fires`, `${name} stays quiet`]))
})

test('every metric of ours is documented once, and on the dashboard', () => {
  const documented = documentedMetrics()
  expect(documented).toEqual([...new Set(documented)])
  const used = dashboardExpressions()
    .map(([, expression]) => expression)
    .join(' ')
  expect(documented.filter((name) => !used.includes(name))).toEqual([])
})
