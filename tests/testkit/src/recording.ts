type Level = 'error' | 'warn' | 'info' | 'debug'
type Fields = Readonly<Record<string, unknown>>

interface Line {
  readonly level: Level
  readonly message: string
  readonly fields: Fields
}

/** A logger that remembers its lines. */
export interface RecordingLog extends Readonly<Record<Level, (message: string, fields?: Fields) => void>> {
  readonly lines: readonly Line[]
  count(message: string): number
}

export function recordingLog(): RecordingLog {
  const lines: Line[] = []
  const record =
    (level: Level) =>
    (message: string, fields: Fields = {}): void =>
      void lines.push({ level, message, fields })
  return {
    lines,
    count: (message) => lines.filter((line) => line.message === message).length,
    error: record('error'),
    warn: record('warn'),
    info: record('info'),
    debug: record('debug'),
  }
}

type Family<Series> = { readonly of: (labels: Readonly<Record<string, string>>) => Series }

/** Metrics that tests read without a scrape. */
export interface RecordingMetrics {
  counter(name: string, help: string): Family<{ add(amount?: number): void }>
  histogram(name: string, help: string, buckets: readonly number[]): Family<{ observe(value: number): void }>
  gauge(name: string, help: string, read: () => unknown): void
  /** The sum of a counter, the number of observations of a histogram, the current value of a gauge. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
}

const keyOf = (name: string, labels: object): string => `${name} ${JSON.stringify(labels)}`

export function recordingMetrics(): RecordingMetrics {
  const counts = new Map<string, number>()
  const gauges = new Map<string, () => unknown>()
  const series = (name: string) => (labels: object) => {
    const key = keyOf(name, labels)
    counts.set(key, counts.get(key) ?? 0)
    return (amount: number): void => void counts.set(key, (counts.get(key) ?? 0) + amount)
  }
  return {
    counter: (name) => ({
      of: (labels) => {
        const count = series(name)(labels)
        return { add: (amount = 1) => count(amount) }
      },
    }),
    histogram: (name) => ({
      of: (labels) => {
        const count = series(name)(labels)
        return { observe: () => count(1) }
      },
    }),
    gauge: (name, _help, read) => void gauges.set(name, read),
    value: (name, labels = {}) => {
      const read = gauges.get(name)
      return read === undefined ? counts.get(keyOf(name, labels)) : (read() as number | undefined)
    },
  }
}
