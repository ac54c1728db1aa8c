import type { Explanation } from '../api/model.ts'

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

const REPAIRS: Readonly<Record<Explanation['verdict'], Repair | null>> = {
  delivered: redeliver('Send again'),
  // An attempt is under way.
  pending: null,
  waiting: redeliver('Try again now'),
  // It is sent when its endpoint is resumed, or received by its client.
  held: null,
  'cooling-down': check,
  parked: redeliver('Send again'),
  withdrawn: deliver,
  expired: deliver,
  'not-subscribed': deliver,
  filtered: deliver,
  'created-later': deliver,
  'changed-later': deliver,
  disabled: {
    action: 'enable',
    label: 'Enable the endpoint',
    promise: 'The endpoint receives new events again. Then send this event to it.',
  },
  // There is no endpoint any more.
  deleted: null,
  unknown: deliver,
}

/** Null if nothing has to be or can be repaired. A verdict of a later version has no repair. */
export const repairOf = (verdict: Explanation['verdict']): Repair | null => REPAIRS[verdict] ?? null

/** How a verdict is shown. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet'

const TONES: Readonly<Record<Explanation['verdict'], Tone>> = {
  delivered: 'good',
  pending: 'quiet',
  waiting: 'warn',
  held: 'quiet',
  'cooling-down': 'warn',
  parked: 'bad',
  withdrawn: 'bad',
  expired: 'quiet',
  'not-subscribed': 'quiet',
  filtered: 'quiet',
  'created-later': 'quiet',
  'changed-later': 'quiet',
  disabled: 'warn',
  deleted: 'quiet',
  unknown: 'quiet',
}

export const toneOfVerdict = (verdict: Explanation['verdict']): Tone => TONES[verdict] ?? 'quiet'

const DELIVERY_TONES: Readonly<Record<string, Tone>> = {
  acknowledged: 'good',
  pending: 'quiet',
  held: 'quiet',
  waiting: 'warn',
  parked: 'bad',
  withdrawn: 'quiet',
  expired: 'quiet',
}

export const toneOfState = (state: string): Tone => DELIVERY_TONES[state] ?? 'quiet'
