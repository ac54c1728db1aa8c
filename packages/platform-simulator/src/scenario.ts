import { objectSchema, type ValueOf } from '@switchhook/contracts'

export type PlannedCall = ReturnType<typeof planCall>

/** From 0 to 1. */
const share = { type: 'number', minimum: 0, maximum: 1 } as const
/** Uniformly distributed. */
const range = {
  ...objectSchema({ from: { type: 'integer', minimum: 0 }, to: { type: 'integer', minimum: 0, maximum: 3_600_000 } }),
  additionalProperties: false,
} as const

/** JSON Schema 2020-12 of the `SIMULATOR_SCENARIO` file: a contact center that generates its own calls. */
export const scenarioSchema = {
  ...objectSchema({
    // The same seed generates the same calls.
    seed: { type: 'integer' },
    tenant: { type: ['string', 'null'] },
    callsPerMinute: { type: 'number', exclusiveMinimum: 0, maximum: 60_000 },
    // Of all calls; agents dial the others.
    inboundShare: share,
    answerAfterMs: range,
    // From the answer to the hang-up.
    talkMs: range,
    holdShare: share,
    transferShare: share,
    // Of the transfers.
    attendedShare: share,
  }),
  additionalProperties: false,
} as const

export type Scenario = ValueOf<typeof scenarioSchema>

/**
 * Plans the nth call of a scenario. Pure, so any replica can run it.
 * @returns times are relative to the start of the call: the agent's phone rings, or the agent dials
 */
export function planCall(scenario: Scenario, n: number) {
  const next = randomOf(scenario.seed, n)
  const between = ({ from, to }: Scenario['talkMs']): number => Math.round(from + next() * Math.max(0, to - from))
  const isInbound = next() < scenario.inboundShare
  const number = `+1555${String(Math.floor(next() * 8_000_000) + 2_000_000)}`
  const [agentAt, colleagueAt] = [next(), next()]
  // An outbound call is answered by the destination (after 2.5 s), not by the agent.
  const answerAtMs = isInbound ? between(scenario.answerAfterMs) : 3_000
  const hangupAtMs = answerAtMs + between(scenario.talkMs)
  const talkAt = (part: number): number => Math.round(answerAtMs + part * (hangupAtMs - answerAtMs))
  const isHeld = next() < scenario.holdShare
  const isTransferred = next() < scenario.transferShare
  const isAttended = next() < scenario.attendedShare
  return {
    isInbound,
    number,
    /** From 0 to 1: where in the list of agents the search for an idle agent, or colleague, starts. */
    agentAt,
    colleagueAt,
    answerAtMs,
    hold: isHeld ? { atMs: talkAt(0.3), resumeAtMs: talkAt(0.45) } : null,
    transfer: isTransferred ? { atMs: talkAt(0.6), isAttended, completeAtMs: talkAt(0.9) } : null,
    hangupAtMs,
    /**
     * Time from the start of this call to the start of the next. Independent arrivals (a Poisson process) have exponentially
     * distributed gaps.
     */
    nextInMs: Math.round((-Math.log(1 - next()) * 60_000) / scenario.callsPerMinute),
  }
}

/** Pseudo-random numbers from 0 to 1, the same for each seed and call (mulberry32). */
function randomOf(seed: number, n: number): () => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b)) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
