import type { Meters } from '../meters.ts'

export interface RecordingMeters extends Meters {
  /** Of a counter its sum, of a histogram how often something was observed, of a gauge what it says now. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined
}

const keyOf = (name: string, labels: object): string => `${name} ${JSON.stringify(labels)}`

export function recordingMeters(): RecordingMeters {
  const counts = new Map<string, number>()
  const gauges = new Map<string, () => number>()
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
    value: (name, labels = {}) => gauges.get(name)?.() ?? counts.get(keyOf(name, labels)),
  }
}
