/** Percentile by nearest rank, `part` from 0 to 1; 0 for no values. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** The object with each value replaced. */
export function mapValues<Name extends string, From, To>(
  values: Readonly<Record<Name, From>>,
  to: (value: From, name: Name) => To,
): Readonly<Record<Name, To>> {
  const entries = Object.entries<From>(values).map(([name, value]) => [name, to(value, name as Name)])
  return Object.fromEntries(entries) as Record<Name, To>
}

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits))

/** Count, median and 99th percentile. */
export type Spread = Readonly<ReturnType<typeof spreadOf>>

export const spreadOf = (valuesMs: readonly number[]) => ({
  count: valuesMs.length,
  p50Ms: round(percentile(valuesMs, 0.5)),
  p99Ms: round(percentile(valuesMs, 0.99)),
})

/** The medians of several runs, and all their values counted. */
export const medianSpread = (runs: readonly Spread[]): Spread => ({
  count: sum(runs.map(({ count }) => count)),
  p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
})

/** Slope of the least-squares line; 0 for fewer than two points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number => sum(points.map((point) => point[at])) / points.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const spread = sum(points.map(([x]) => (x - meanX) ** 2))
  if (points.length < 2 || spread === 0) return 0
  return sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / spread
}
