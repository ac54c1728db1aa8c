/** The value below which the given part (0 to 1) of the values lies, by nearest rank; 0 of nothing. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits))
