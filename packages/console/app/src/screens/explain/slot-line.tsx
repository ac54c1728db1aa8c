import type { Slot } from '../../rules/slots.ts'
import { duration, outcomeLabel } from '../../rules/words.ts'
import { Time } from '../../ui/parts.tsx'

const WORDS: Readonly<Record<Slot['kind'], string>> = {
  failed: 'failed',
  acknowledged: 'acknowledged',
  skipped: 'cool-down',
  next: 'next',
  later: 'if needed',
  unused: 'not needed',
}

/** The schedule as a row: what was attempted, what comes, and how long the waits are. */
export function SlotLine({ slots, waitsMs }: { readonly slots: readonly Slot[]; readonly waitsMs: readonly number[] }) {
  return (
    <ol className="slots" aria-label="Schedule of this run">
      {slots.map(({ slot, kind, at, attempt }) => (
        <li key={slot} className={kind}>
          <span className="slot-wait">{slot === 0 ? 'immediately' : `+${duration(waitsMs[slot - 1] ?? 0)}`}</span>
          <span className="slot-word">
            {kind === 'failed' && attempt ? outcomeLabel(attempt.outcome, attempt.status) : WORDS[kind]}
          </span>
          <span className="slot-time">{at === null ? ' ' : <Time at={at} />}</span>
        </li>
      ))}
    </ol>
  )
}
