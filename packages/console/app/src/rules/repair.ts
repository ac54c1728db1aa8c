import type { Explanation } from '../api/model.ts'
import type { Tone } from './tone.ts'

/** The one action that gets a delivery through, by its verdict. */
export interface Repair {
  readonly action: 'redeliver' | 'deliver' | 'check' | 'enable'
  readonly label: string
  /** What the action does, before the person does it. */
  readonly promise: string
}

const redeliver = (label: string): Repair => ({
  action: 'redeliver',
  label,
  promise: 'Sends this delivery again: the same body and id, on a new run of the schedule.',
})

const deliver: Repair = {
  action: 'deliver',
  label: 'Send now',
  promise: 'Sends this event to the endpoint now, as a delivery of its own.',
}

const check: Repair = {
  action: 'check',
  label: 'Check the endpoint',
  promise: 'Sends a few test requests and reports what the endpoint does wrong. The delivery keeps its schedule.',
}

const enable: Repair = {
  action: 'enable',
  label: 'Enable the endpoint',
  promise: 'The endpoint receives new events again. Then send this event to it.',
}

/** How each verdict is shown, and its repair; null if nothing has to be or can be repaired. */
const VERDICTS: Readonly<Record<Explanation['verdict'], { readonly tone: Tone; readonly repair: Repair | null }>> = {
  delivered: { tone: 'good', repair: redeliver('Send again') },
  // An attempt is under way.
  pending: { tone: 'quiet', repair: null },
  waiting: { tone: 'warn', repair: redeliver('Try again now') },
  // It is sent when its endpoint is resumed, or received by its client.
  held: { tone: 'quiet', repair: null },
  'cooling-down': { tone: 'warn', repair: check },
  parked: { tone: 'bad', repair: redeliver('Send again') },
  withdrawn: { tone: 'bad', repair: deliver },
  expired: { tone: 'quiet', repair: deliver },
  'not-subscribed': { tone: 'quiet', repair: deliver },
  filtered: { tone: 'quiet', repair: deliver },
  'created-later': { tone: 'quiet', repair: deliver },
  'changed-later': { tone: 'quiet', repair: deliver },
  disabled: { tone: 'warn', repair: enable },
  // There is no endpoint any more.
  deleted: { tone: 'quiet', repair: null },
  unknown: { tone: 'quiet', repair: deliver },
}

/** Null for a verdict of a later version, too. */
export const repairOf = (verdict: Explanation['verdict']): Repair | null => VERDICTS[verdict]?.repair ?? null

export const toneOfVerdict = (verdict: Explanation['verdict']): Tone => VERDICTS[verdict]?.tone ?? 'quiet'
