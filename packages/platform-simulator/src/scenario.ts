import { compileSchema, objectSchema, type Tenant } from '@switchhook/contracts'

/**
 * The content of the `SIMULATOR_SCENARIO` file: a contact center that generates its own calls. Shares are from 0 to 1.
 */
export interface Scenario {
  /** The same seed generates the same calls. */
  readonly seed: number
  readonly tenant: Tenant
  readonly callsPerMinute: number
  /** Of all calls; agents dial the others. */
  readonly inboundShare: number
  readonly answerAfterMs: Range
  /** From the answer to the hang-up. */
  readonly talkMs: Range
  readonly holdShare: number
  readonly transferShare: number
  /** Of the transfers. */
  readonly attendedShare: number
}

/** Uniformly distributed. */
interface Range {
  readonly from: number
  readonly to: number
}

export type PlannedCall = ReturnType<typeof planCall>

const share = { type: 'number', minimum: 0, maximum: 1 }
const range = {
  ...objectSchema({ from: { type: 'integer', minimum: 0 }, to: { type: 'integer', minimum: 0, maximum: 3_600_000 } }),
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

const validate = compileSchema<Scenario>({ ...objectSchema(properties), additionalProperties: false })

/** @throws Error that lists every problem */
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

/**
 * Plans the nth call of a scenario. Pure, so any replica can run it.
 * @returns times are relative to the start of the call: the agent's phone rings, or the agent dials
 */
export function planCall(scenario: Scenario, n: number) {
  const next = randomOf(scenario.seed, n)
  const between = ({ from, to }: Range): number => Math.round(from + next() * Math.max(0, to - from))
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
