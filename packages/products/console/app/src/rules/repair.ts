import type { Explanation } from '../api/model.ts'
import type { Tone } from './words.ts'

/** What each action does, before the person does it. */
const PROMISES = {
  redeliver: 'Sends this delivery again: the same body and id, on a new run of the schedule.',
  deliver: 'Sends this event to the endpoint now, as a delivery of its own.',
  check: 'Sends a few test requests and reports what the endpoint does wrong. The delivery keeps its schedule.',
  enable: 'The endpoint receives new events again. Then send this event to it.',
} as const

/** The one action that gets a delivery through, by its verdict. */
export interface Repair {
  readonly action: keyof typeof PROMISES
  readonly label: string
  readonly promise: string
}

const repairBy = (action: Repair['action'], label: string): Repair => ({ action, label, promise: PROMISES[action] })

const deliver = repairBy('deliver', 'Send now')

/** How each verdict is shown, and its repair; null if nothing has to be or can be repaired. */
const VERDICTS: Readonly<Record<Explanation['verdict'], { readonly tone: Tone; readonly repair: Repair | null }>> = {
  delivered: { tone: 'good', repair: repairBy('redeliver', 'Send again') },
  // An attempt is under way.
  pending: { tone: 'quiet', repair: null },
  waiting: { tone: 'warn', repair: repairBy('redeliver', 'Try again now') },
  // It is sent when its endpoint is resumed, or received by its client.
  held: { tone: 'quiet', repair: null },
  'cooling-down': { tone: 'warn', repair: repairBy('check', 'Check the endpoint') },
  parked: { tone: 'bad', repair: repairBy('redeliver', 'Send again') },
  withdrawn: { tone: 'bad', repair: deliver },
  expired: { tone: 'quiet', repair: deliver },
  'not-subscribed': { tone: 'quiet', repair: deliver },
  filtered: { tone: 'quiet', repair: deliver },
  'created-later': { tone: 'quiet', repair: deliver },
  'changed-later': { tone: 'quiet', repair: deliver },
  disabled: { tone: 'warn', repair: repairBy('enable', 'Enable the endpoint') },
  // There is no endpoint any more.
  deleted: { tone: 'quiet', repair: null },
  unknown: { tone: 'quiet', repair: deliver },
}

/** Null for a verdict of a later version, too. */
export const repairOf = (verdict: Explanation['verdict']): Repair | null => VERDICTS[verdict]?.repair ?? null

export const toneOfVerdict = (verdict: Explanation['verdict']): Tone => VERDICTS[verdict]?.tone ?? 'quiet'
