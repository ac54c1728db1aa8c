import { eventually, startReceiver } from '@switchhook/testkit'
import { openClient, publishEvent } from './client.ts'
import { documentedMetrics } from './monitoring-files.ts'
import { readStack } from './stack.ts'

const metricsOf = async (port: number): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()

/** Sums a metric over all replicas of a service. */
async function sum(service: string, sample: RegExp): Promise<number> {
  const ports = Object.entries(readStack().healthPorts).flatMap(([name, port]) =>
    name.startsWith(service) ? [port] : [],
  )
  const lines = (await Promise.all(ports.map(metricsOf))).flatMap((text) => text.split('\n'))
  return lines.filter((line) => sample.test(line)).reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
}

test('a delivery is counted in the metrics of fan-out and workers', async () => {
  const [client, receiver] = await Promise.all([openClient('globex'), startReceiver()])
  const { id } = await client.subscribe(receiver.url('/counted'))
  const figures = (): Promise<number[]> =>
    Promise.all([
      sum('fanout', /^switchhook_fanout_deliveries_sum/),
      sum('delivery-worker', /^switchhook_attempts_total\{outcome="delivered"/),
      sum('delivery-worker', /^switchhook_decisions_total\{decision="acknowledged"/),
      sum('delivery-worker', /^switchhook_event_to_first_attempt_seconds_count/),
      sum('delivery-worker', /^switchhook_due_to_acknowledged_seconds_count\{waited="no"/),
    ])
  const before = await figures()
  await publishEvent({ tenant: 'globex' })
  await receiver.waitFor(1, '/counted')
  await eventually(async () => {
    const grown = (await figures()).map((value, at) => value - (before[at] ?? 0))
    expect(Math.min(...grown)).toBeGreaterThanOrEqual(1)
  })
  await client.unsubscribe(id)
  await receiver.close()
})

test('the operations guide lists exactly the existing metrics', async () => {
  const texts = await Promise.all(Object.values(readStack().healthPorts).map(metricsOf))
  const shown = texts.flatMap((text) => [...text.matchAll(/^# TYPE (switchhook_\w+)/gm)].map(([, name]) => name))
  expect(new Set(documentedMetrics())).toEqual(new Set(shown))
})
