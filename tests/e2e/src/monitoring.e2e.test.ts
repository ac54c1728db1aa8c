import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, openClient, publishEvent, type Subscription } from './client.ts'
import { dashboardExpressions, monitoringFolder } from './monitoring-files.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { readStack } from './stack.ts'

const binary = process.env['PROMETHEUS'] ?? ''

/** The range of the queries: all of the load, however long it takes on a busy machine. */
const RATE_INTERVAL = '5m'
const LOOKS = 12

/** The measured expressions of an alert's condition, without its thresholds. */
function measuredBy(condition: string): readonly string[] {
  const [own = ''] = condition.split(/\s+and on \(cluster, namespace\) switchhook_ready$/)
  return own.split(/\s+(?:and|or)\s+(?=sum|label_replace)/).flatMap((part) => {
    const present = /^label_replace\(.*?\((up\{.*?\})\)/.exec(part)?.[1]
    if (present !== undefined) return [present]
    const compared = part.split(/ < on \(cluster, namespace\) group_left \(\) /)
    if (compared.length > 1) return compared
    const measured = part.replace(/\s*(?:[<>]=?|[!=]=)\s*[\d.]+$/, '')
    if (measured === part) throw new Error(`no bound: ${part}`)
    return [measured]
  })
}

let prometheus: Prometheus
let acme: Client
let receiver: Receiver
const subscriptions: Subscription[] = []

/** Produces everything that a panel shows: acknowledged, retried, rejected, exhausted and isolated deliveries, and a cool-down. */
async function makeLoad(): Promise<void> {
  receiver.answer('/well', { status: 204 })
  receiver.answer('/failing', { status: 503 })
  receiver.answer('/refusing', { status: 410 })
  receiver.answer('/slow', { delayMs: 600 })
  for (const path of ['/well', '/failing', '/refusing', '/slow']) {
    subscriptions.push(await acme.subscribe(receiver.url(path), ['call.status', 'agent.status']))
  }
  for (let round = 0; round < LOOKS; round += 1) {
    await Promise.all([
      ...Array.from({ length: 8 }, () => publishEvent()),
      acme.dial(`sip:e2e-${160 + round}@acme.example`, '+15550101'),
      new Promise((resolve) => setTimeout(resolve, 800)),
    ])
  }
}

const describeWithPrometheus = binary === '' ? describe.skip : describe

/** Resolves once every process has answered this many scrapes. */
const looked = (times: number): Promise<void> =>
  eventually(
    async () => {
      const [looks] = await prometheus.query('min(sum_over_time(up[5m]))')
      expect(Number(looks?.value[1])).toBeGreaterThanOrEqual(times)
    },
    { timeoutMs: 60_000 },
  )

describeWithPrometheus('a real Prometheus that scraped the stack under load', () => {
  beforeAll(async () => {
    ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
    prometheus = await startPrometheus(binary)
    // Prometheus does not count an increase before the first scrape.
    await looked(2)
    await makeLoad()
    await looked(LOOKS)
  })

  afterAll(async () => {
    await prometheus.close()
    await Promise.all(subscriptions.map(({ id }) => acme.unsubscribe(id)))
    await receiver.close()
  })

  const knowsBroker = (): boolean => readStack().urls.rabbitmqMetrics !== null

  /** Whether the answer has at least one number. */
  async function hasData(expression: string): Promise<boolean> {
    const samples = await prometheus.query(
      expression.replaceAll('$__rate_interval', RATE_INTERVAL).replaceAll(/\$(namespace|cluster)/g, '.*'),
    )
    return samples.some(({ value }) => !Number.isNaN(Number(value[1])))
  }

  async function expectData(named: readonly (readonly [string, string])[]): Promise<void> {
    const isShown = (expression: string): boolean =>
      !/\bredis_/.test(expression) && (knowsBroker() || !expression.includes('rabbitmq_'))
    const shown = named.filter(([, expression]) => isShown(expression))
    if (shown.length < named.length) {
      process.stderr.write(
        `NOT TESTED: ${named.length - shown.length} about Redis or queues, without redis_exporter or metrics of this broker\n`,
      )
    }
    // A process that has not answered the last scrape, as on a busy machine, has no data until the next one.
    await eventually(async () => {
      const found = await Promise.all(
        shown.map(async ([name, expression]) => [name, expression, await hasData(expression)]),
      )
      expect(found.flatMap(([name, expression, has]) => (has === true ? [] : [`${name}: ${expression}`]))).toEqual([])
    })
  }

  test('scrapes every process', async () => {
    const targets = await prometheus.query('sum by (job) (up)')
    const byJob = Object.fromEntries(targets.map(({ metric, value }) => [metric['job'], Number(value[1])]))
    expect(byJob).toEqual({
      api: 2,
      fanout: 2,
      'delivery-worker': 2,
      ...(knowsBroker() && { rabbitmq: 1, 'rabbitmq-queues': 1 }),
    })
  })

  test('finds data for every dashboard expression', async () => {
    const expressions = dashboardExpressions()
    expect(expressions.length).toBeGreaterThan(50)
    await expectData(expressions)
  })

  test('evaluates every alert rule and finds data for it', async () => {
    const rules = await prometheus.rules()
    expect(rules.length).toBeGreaterThan(20)
    expect(rules.filter(({ lastError = '' }) => lastError !== '')).toEqual([])
    const measured = rules.flatMap(({ name, query }) => measuredBy(query).map((part) => [name, part] as const))
    await expectData(measured)
  })

  test('measures the load correctly', async () => {
    const value = async (expression: string): Promise<number> =>
      Number((await prometheus.query(expression))[0]?.value[1] ?? Number.NaN)
    const grown = (selector: string): Promise<number> => value(`sum(increase(${selector}[1m]))`)
    const happened = [
      'switchhook_decisions_total{decision="acknowledged"}',
      'switchhook_decisions_total{decision="parked",reason="rejected"}',
      'switchhook_decisions_total{decision="retry",reason="failed"}',
      'switchhook_cooldowns_total',
      'switchhook_events_relayed_total',
      'switchhook_call_legs_ended_total{reason="busy"}',
    ]
    // On a busy machine, the load ends a little later than the client that generates it.
    await eventually(async () => {
      const figures = await Promise.all(happened.map(grown))
      expect(happened.filter((_selector, at) => !((figures[at] ?? 0) > 0))).toEqual([])
    })
    // Two checks at each of two api replicas, and five at each of four consuming processes.
    expect(await value('sum(switchhook_ready)')).toBe(24)
    expect(await value('sum(switchhook_degraded)')).toBe(0)
  })

  test('passes the tests of the alert rules', async () => {
    const promtool = join(binary, '..', 'promtool')
    const { stdout } = await promisify(execFile)(
      promtool,
      ['test', 'rules', join(monitoringFolder, 'alerts.test.yml')],
      // By default, collecting garbage takes a third of its processor time.
      { env: { ...process.env, GOGC: '400' } },
    )
    expect(stdout).toContain('SUCCESS')
    // promtool plays hours of samples through every rule: seconds on an idle core, a minute on a busy one.
  }, 180_000)
})
