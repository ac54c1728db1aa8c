export interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  readonly tone: 'accent' | 'good' | 'warn' | 'bad' | 'quiet'
  readonly isFilled?: boolean
  readonly isDashed?: boolean
}

/** A cool-down, shown as a band. In ms since 1970. */
export interface Band {
  readonly fromMs: number
  readonly toMs: number
}

export interface PlotProps {
  /** Read to a screen reader: what the plot shows, with its latest values. */
  readonly summary: string
  /** ISO 8601. */
  readonly times: readonly string[]
  readonly series: readonly Series[]
  /** `duration`: in ms. */
  readonly unit: 'count' | 'duration'
  readonly bands?: readonly Band[]
}
