import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, freePort } from '@switchhook/testkit'
import { alertsFile, monitoringFolder } from './monitoring-files.ts'
import { readStack } from './stack.ts'

/** One series of an answer: its labels, and its value as Prometheus formats it. */
interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

interface Rule {
  readonly name: string
  readonly query: string
  readonly lastError?: string
  readonly annotations: Readonly<Record<string, string>>
}

export interface Prometheus {
  query(expression: string): Promise<readonly Sample[]>
  rules(): Promise<readonly Rule[]>
  close(): Promise<void>
}

/** Runs Prometheus with the shipped configuration on the test stack, but with a scrape interval of 1 s instead of 15 s. */
export async function startPrometheus(binary: string): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'switchhook-prometheus-'))
  cpSync(monitoringFolder, folder, { recursive: true })
  copyFileSync(alertsFile, join(folder, 'alerts.yml'))
  const shipped = readFileSync(join(monitoringFolder, 'prometheus.yml'), 'utf8')
  writeFileSync(join(folder, 'prometheus.yml'), shipped.replaceAll(/_interval: 15s/g, '_interval: 1s'))
  for (const [job, targets] of Object.entries(targetsByJob())) {
    writeFileSync(join(folder, 'targets', `${job}.json`), JSON.stringify([{ targets }]))
  }
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    binary,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  )
  const ended = once(child, 'exit')

  async function get<T>(path: string): Promise<T> {
    const response = await fetch(`http://${address}/api/v1/${path}`)
    const answer = (await response.json()) as { status: string; data: T; error?: string }
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }

  await eventually(async () => expect((await fetch(`http://${address}/-/ready`)).status).toBe(200), {
    timeoutMs: 20_000,
  })
  return {
    query: async (expression) =>
      (await get<{ result: readonly Sample[] }>(`query?query=${encodeURIComponent(expression)}`)).result,
    rules: async () =>
      (await get<{ groups: readonly { rules: readonly Rule[] }[] }>('rules')).groups.flatMap(({ rules }) => rules),
    close: async () => {
      child.kill()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function targetsByJob(): Readonly<Record<string, readonly string[]>> {
  const { healthPorts, urls } = readStack()
  const own = (job: string): string[] =>
    Object.entries(healthPorts).flatMap(([name, port]) => (name.startsWith(job) ? [`127.0.0.1:${port}`] : []))
  return {
    api: own('api'),
    fanout: own('fanout'),
    'delivery-worker': own('delivery-worker'),
    rabbitmq: urls.rabbitmqMetrics === null ? [] : [new URL(urls.rabbitmqMetrics).host],
  }
}
