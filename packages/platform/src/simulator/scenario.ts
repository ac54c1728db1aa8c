import { compileSchema } from '@switchhook/contracts'

/** A busy center that plays by itself: what `SIMULATOR_SCENARIO` names. Shares are between 0 and 1. */
export interface Scenario {
  /** The same seed plays the same calls. */
  readonly seed: number
  /** Whose agents take part: those of this tenant. */
  readonly tenant: string | null
  readonly callsPerMinute: number
  /** The rest is dialled by agents. */
  readonly inboundShare: number
  readonly answerAfterMs: Range
  /** From the answer to the end. */
  readonly talkMs: Range
  readonly holdShare: number
  readonly transferShare: number
  /** Of the transfers. */
  readonly attendedShare: number
}

/** Evenly spread between the two. */
interface Range {
  readonly from: number
  readonly to: number
}

/** One call of a scenario. Moments count from when the agent's phone rings, or the agent dials. */
export interface PlannedCall {
  readonly isInbound: boolean
  /** The customer's number. */
  readonly number: string
  /** Between 0 and 1: where in the list of agents the search for an idle one begins, and for a colleague. */
  readonly agentAt: number
  readonly colleagueAt: number
  readonly answerAtMs: number
  /** null: it is not put on hold. */
  readonly holdAtMs: number | null
  readonly resumeAtMs: number | null
  readonly transfer: { readonly atMs: number; readonly isAttended: boolean; readonly completeAtMs: number } | null
  readonly hangupAtMs: number
  /** Until the next call begins. */
  readonly nextInMs: number
}

const share = { type: 'number', minimum: 0, maximum: 1 }
const range = {
  type: 'object',
  required: ['from', 'to'],
  properties: { from: { type: 'integer', minimum: 0 }, to: { type: 'integer', minimum: 0, maximum: 3_600_000 } },
  additionalProperties: false,
}
const properties = {
  seed: { type: 'integer' },
  tenant: { type: ['string', 'null'] },
  callsPerMinute: { type: 'number', exclusiveMinimum: 0, maximum: 60_000 },
  inboundShare: share,
  answerAfterMs: range,
  talkMs: range,
  holdShare: share,
  transferShare: share,
  attendedShare: share,
}

const validate = compileSchema<Scenario>({
  type: 'object',
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
})

/** @throws Error that names every problem */
export function parseScenario(json: string): Scenario {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new Error('the scenario is not JSON')
  }
  const result = validate(value)
  if (result.ok) return result.value
  throw new Error(`the scenario is not valid: ${result.faults.map((f) => `${f.pointer} ${f.detail}`).join('; ')}`)
}

/** The nth call of a scenario: a pure function of seed and number, so any replica can play it. */
export function planCall(scenario: Scenario, n: number): PlannedCall {
  const next = randomOf(scenario.seed, n)
  const between = ({ from, to }: Range): number => Math.round(from + next() * Math.max(0, to - from))
  const isInbound = next() < scenario.inboundShare
  const number = `+1555${String(Math.floor(next() * 8_000_000) + 2_000_000)}`
  const [agentAt, colleagueAt] = [next(), next()]
  // An outbound call is answered by the other end, in its own time.
  const answerAtMs = isInbound ? between(scenario.answerAfterMs) : 3_000
  const hangupAtMs = answerAtMs + between(scenario.talkMs)
  const talkAt = (part: number): number => Math.round(answerAtMs + part * (hangupAtMs - answerAtMs))
  const isHeld = next() < scenario.holdShare
  const isTransferred = next() < scenario.transferShare
  const isAttended = next() < scenario.attendedShare
  return {
    isInbound,
    number,
    agentAt,
    colleagueAt,
    answerAtMs,
    holdAtMs: isHeld ? talkAt(0.3) : null,
    resumeAtMs: isHeld ? talkAt(0.45) : null,
    transfer: isTransferred ? { atMs: talkAt(0.6), isAttended, completeAtMs: talkAt(0.9) } : null,
    hangupAtMs,
    // Calls arrive independently of each other: the gaps are exponential.
    nextInMs: Math.round((-Math.log(1 - next()) * 60_000) / scenario.callsPerMinute),
  }
}

/** Numbers between 0 and 1 that look random, always the same for a seed and a call (mulberry32). */
function randomOf(seed: number, n: number): () => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b)) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
