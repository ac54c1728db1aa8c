/** How a state is shown. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet'

/** For lists that begin with what needs a person. */
export const RANK_OF_TONE = { bad: 0, warn: 1, good: 2, quiet: 3 } as const

const STATES: Readonly<Record<string, Tone>> = {
  acknowledged: 'good',
  waiting: 'warn',
  parked: 'bad',
  paused: 'warn',
  done: 'good',
}

/** Of a delivery or a recovery. */
export const toneOfState = (state: string): Tone => STATES[state] ?? 'quiet'
