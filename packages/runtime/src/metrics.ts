import { collectDefaultMetrics, type Metric, type MetricValue, Registry } from 'prom-client'

/** Few and known beforehand: never a tenant, an id or a url. */
export type Labels = Readonly<Record<string, string>>

export interface Counter {
  add(amount?: number): void
}

export interface Histogram {
  observe(value: number): void
}

/** One metric's series. Ask for a series once and keep it: it exists, as zero, from then on. */
export interface Family<Series> {
  of(labels: Labels): Series
}

interface Reading {
  readonly labels: Labels
  readonly value: number
}

/** What a process counts, for its `/metrics`. Counting is one addition; the work is done when somebody reads. */
export interface Metrics {
  counter(name: string, help: string): Family<Counter>
  /** @param buckets upper bounds, ascending */
  histogram(name: string, help: string, buckets: readonly number[]): Family<Histogram>
  /** Asked each time that somebody reads. What it does not know, or rejects with, is left out: unknown is not zero. */
  gauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void
  gauges(name: string, help: string, read: () => readonly Reading[]): void
  /** All of it as Prometheus text. */
  text(): Promise<string>
  readonly contentType: string
}

/** The metrics of one service, those of its process among them. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  collectDefaultMetrics({ register: registry })

  type Values = readonly (MetricValue<string> & { readonly metricName?: string })[]

  /** The library's own counters look the labels up again with every increment, at a microsecond each. */
  function register(name: string, help: string, type: string, read: () => Values | Promise<Values>): void {
    const get = async () => ({ name, help, type, values: await read(), aggregator: 'sum' })
    // All that the registry uses of a metric.
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

/** Bounds for what takes from a millisecond to ten seconds, in seconds. */
export const SECONDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function familyOf<Series>(create: () => Series) {
  const byLabels = new Map<string, { readonly labels: Labels; readonly series: Series }>()
  return {
    of(labels: Labels): Series {
      const key = JSON.stringify(labels)
      const entry = byLabels.get(key) ?? { labels, series: create() }
      byLabels.set(key, entry)
      return entry.series
    },
    all: () => [...byLabels.values()],
  }
}

class Cell implements Counter {
  value = 0

  add(amount = 1): void {
    this.value += amount
  }
}

class Distribution implements Histogram {
  readonly #bounds: readonly number[]
  /** One more than there are bounds: what is above the last. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    // It would make the sum unknown for ever.
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
