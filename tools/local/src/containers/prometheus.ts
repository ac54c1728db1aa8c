import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository, waitUntil } from '@switchhook/test-servers'
import { verify } from '../demo/verify.ts'

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
}

interface Sample {
  readonly value: readonly [atSeconds: number, value: string]
}

const DASHBOARD = join(repository, 'infra/helm/switchhook/files/dashboard.json')
/** At least four scrape intervals, which Grafana ensures by default. */
const RATE_INTERVAL = '1m'

/** Runs every dashboard expression in Prometheus. Each must return a number. */
export async function verifyDashboardHasData(prometheusUrl: string): Promise<string> {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Dashboard
  const asked = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
  let empty: readonly string[] = []
  const allShow = async (): Promise<boolean> => {
    const answers = await Promise.all(asked.map(({ expr }) => query(prometheusUrl, expr)))
    empty = asked.flatMap(({ title, expr }, at) => (answers[at]?.some(isNumber) ? [] : [`${title}: ${expr}`]))
    return empty.length === 0
  }
  const show = await waitUntil(allShow, 60_000, 2_000)
  verify(show, `every expression of the dashboard has data (${empty.join('; ')})`)
  return `${asked.length} expressions, all with data`
}

/** The number of targets of a job that Prometheus can scrape. */
export async function reached(prometheusUrl: string, job: string): Promise<number> {
  const [sample] = await query(prometheusUrl, `sum(up{job="${job}"})`)
  return Number(sample?.value[1] ?? 0)
}

const isNumber = ({ value }: Sample): boolean => !Number.isNaN(Number(value[1]))

async function query(prometheusUrl: string, expression: string): Promise<readonly Sample[]> {
  const asked = encodeURIComponent(
    expression.replaceAll('$__rate_interval', RATE_INTERVAL).replaceAll(/\$(namespace|cluster)/g, '.*'),
  )
  const response = await fetch(`${prometheusUrl}/api/v1/query?query=${asked}`)
  const answer = (await response.json()) as { status: string; data: { result: readonly Sample[] }; error?: string }
  verify(answer.status === 'success', `Prometheus understands ${expression} (${answer.error})`)
  return answer.data.result
}
