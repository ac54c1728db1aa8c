import type { Recovery } from '../api/model.ts'
import type { Tone } from '../rules/repair.ts'

const TONES: Readonly<Record<Recovery['state'], Tone>> = {
  running: 'quiet',
  paused: 'warn',
  done: 'good',
  cancelled: 'quiet',
}

export const toneOfRecovery = (state: Recovery['state']): Tone => TONES[state] ?? 'quiet'
