import { readFileSync } from 'node:fs'
import { ALERTS_PAGE, fillAlerts, type Rules, readRules } from './alerts-page.ts'

const page = readFileSync(ALERTS_PAGE, 'utf8')

const rulesOf = (...alerts: string[]): Rules => ({
  groups: [
    {
      name: 'switchhook-redis',
      rules: alerts.map((alert) => ({
        alert,
        expr: 'max(memory) > 0.8\n',
        for: '5m',
        labels: { severity: 'warning' },
        annotations: {
          summary: '{{ $labels.instance }} uses {{ $value | humanizePercentage }} for {{ $value | humanizeDuration }}.',
        },
      })),
    },
  ],
})

test('docs/alerts.md is what `make docs` writes from the alert rules', () => {
  expect(fillAlerts(page, readRules())).toBe(page)
})

test('the first paragraph of an alert is its rule, and the steps below are kept', () => {
  const filled = fillAlerts(
    '# Alerts\n\nText.\n\n## Redis\n\n### Full\n\nOld.\n\n**Fix.** Wait.\n\nAgain.\n',
    rulesOf('Full'),
  )
  expect(filled).toBe(
    '# Alerts\n\nText.\n\n## Redis\n\n### Full\n\n' +
      '**Warning at `> 0.8` for 5m.** _instance_ uses N % for N seconds.\n\n**Fix.** Wait.\n\nAgain.\n',
  )
})

test('an alert without steps, and steps without an alert, are errors that name it', () => {
  expect(() => fillAlerts(page, rulesOf('SwitchhookNew'))).toThrow(/describes SwitchhookTargetDown, .* does not have/)
  expect(() => fillAlerts('# Alerts\n', rulesOf('SwitchhookNew'))).toThrow('no steps for SwitchhookNew')
})
