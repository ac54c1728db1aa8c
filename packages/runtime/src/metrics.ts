import { collectDefaultMetrics, type Metric, type MetricValue, Registry } from 'prom-client'
import { getOrCreate } from './by-key.ts'

/** Few, from closed lists in the code: never a tenant, an id or a URL. */
export type Labels = Readonly<Record<string, string>>

export type Counter = Pick<Cell, 'add'>
export type Histogram = Pick<Distribution, 'observe'>

/**
 * The series of one metric. A series is exported as zero once it exists, so create those that are known at the start. All
 * labels of a family have the same names, in the same order.
 */
export interface Family<Series> {
  of(labels: Labels): Series
}

/** The metrics of a process, for `/metrics`. Each part counts its own metrics in a `…-meter.ts` file. Counting is one addition; the rest of the work is done at each scrape. */
export interface Metrics {
  counter(name: string, help: string): Family<Counter>
  /** @param buckets upper bounds, ascending */
  histogram(name: string, help: string, buckets: readonly number[]): Family<Histogram>
  /** `read` runs at each scrape. If it returns undefined or rejects, the gauge is left out: unknown is not zero. */
  gauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void
  gauges(name: string, help: string, read: () => readonly { readonly labels: Labels; readonly value: number }[]): void
  text(): Promise<string>
  readonly contentType: string
}

export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  // In ms: each process wakes so often, also while it is idle. The default of 10 takes 0.8 % of a core. The alert is about stalls
  // of half a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 })

  type Values = readonly (MetricValue<string> & { readonly metricName?: string })[]

  /**
   * Registers a metric whose values are read at each scrape. prom-client's own counters look up the labels at every
   * increment, which costs about a microsecond each (ADR 0018).
   */
  function register(name: string, help: string, type: string, read: () => Values | Promise<Values>): void {
    const get = async () => ({ name, help, type, values: await read(), aggregator: 'sum' })
    // The registry uses only these two members of a metric.
    registry.registerMetric({ name, get } as unknown as Metric)
  }

  return {
    counter(name, help) {
      const family = familyOf(() => new Cell())
      register(name, help, 'counter', () => family.all().map(({ labels, series: { value } }) => ({ labels, value })))
      return family
    },
    histogram(name, help, buckets) {
      const family = familyOf(() => new Distribution(buckets))
      register(name, help, 'histogram', () => family.all().flatMap(({ labels, series }) => series.values(name, labels)))
      return family
    },
    gauge(name, help, read) {
      register(name, help, 'gauge', async () => {
        const value = await Promise.resolve()
          .then(read)
          .catch(() => undefined)
        return value === undefined ? [] : [{ labels: {}, value }]
      })
    },
    gauges: (name, help, read) => register(name, help, 'gauge', () => [...read()]),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/** Buckets in seconds, for durations from a millisecond to ten seconds. */
export const SECONDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function familyOf<Series>(create: () => Series) {
  const byLabels = new Map<string, { readonly labels: Labels; readonly series: Series }>()
  return {
    of(labels: Labels): Series {
      // A request looks its series up each time, so the key is cheap.
      const key = Object.values(labels).join('\n')
      return getOrCreate(byLabels, key, () => ({ labels, series: create() })).series
    },
    all: () => [...byLabels.values()],
  }
}

class Cell {
  value = 0

  add(amount = 1): void {
    this.value += amount
  }
}

class Distribution {
  readonly #bounds: readonly number[]
  /** One more than the bounds: the last counts the values above all of them. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    // NaN would make the sum NaN for good.
    if (Number.isNaN(value)) return
    let at = 0
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at += 1
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  values(name: string, labels: Labels) {
    let count = 0
    const buckets = [...this.#counts].map((here, at) => {
      count += here
      const le = this.#bounds[at] ?? '+Inf'
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}
