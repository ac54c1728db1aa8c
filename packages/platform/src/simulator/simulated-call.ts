import {
  type CallId,
  type CommandId,
  Direction,
  EndedBy,
  EndReason,
  PartyType,
  type RemoteParty,
  Role,
} from '@switchhook/contracts'
import type { Fact, LegEnded } from '../platform.ts'
import { behaviourOf, numberOf } from './destinations.ts'

/** A call in the simulated switch. `over` is final. */
export interface SimulatedCall {
  readonly tenant: string | null
  readonly callId: CallId
  readonly commandId: CommandId
  readonly caller: string
  readonly callerDevice: string | null
  readonly destination: string
  /** The agent who is rung, with its device; null: somebody outside. */
  readonly callee: { readonly agentUri: string; readonly device: string | null } | null
  readonly cli: string | null
  readonly phase: 'dialled' | 'seized' | 'ringing' | 'talking' | 'over'
}

/** Something that befalls a call: the clock's next step, or somebody who hangs up. */
export type Cue =
  | { readonly kind: 'seize' }
  | { readonly kind: 'route' }
  | { readonly kind: 'answer' }
  | { readonly kind: 'ring-out' }
  | { readonly kind: 'remote-hangup' }
  | { readonly kind: 'agent-hangup'; readonly agentUri: string; readonly commandId: CommandId }

export interface Step {
  readonly call: SimulatedCall
  /** To be told in this order. */
  readonly facts: readonly Fact[]
  readonly next: { readonly cue: Cue; readonly afterMs: number } | null
}

const ROUTING_MS = 300
const RING_OUT_MS = 30_000
/** A customer who is forgotten on the line hangs up by herself. */
const LONGEST_TALK_MS = 180_000

/**
 * The life of a call, one step at a time. The same cue on the same call gives the same facts, so a step that was
 * interrupted can be played again; a cue that no longer fits (an answer after the hang-up) changes nothing.
 */
export function play(call: SimulatedCall, cue: Cue, at: string): Step {
  switch (cue.kind) {
    case 'seize':
      if (call.phase !== 'dialled') return ignored(call)
      return {
        call: { ...call, phase: 'seized' },
        facts: [opened(call, at)],
        next: { cue: { kind: 'route' }, afterMs: ROUTING_MS },
      }
    case 'route':
      return call.phase === 'seized' ? route(call, at) : ignored(call)
    case 'answer':
      if (call.phase !== 'ringing') return ignored(call)
      return {
        call: { ...call, phase: 'talking' },
        facts: [{ ...callerFact(call, at), kind: 'connected' }],
        next: { cue: { kind: 'remote-hangup' }, afterMs: LONGEST_TALK_MS },
      }
    case 'ring-out':
      if (call.phase !== 'ringing') return ignored(call)
      return over(
        call,
        bothEnded(call, at, { endReason: EndReason.noAnswer, endedBy: EndedBy.system, cause: 19, sipCode: 480 }),
      )
    case 'remote-hangup':
      if (call.phase !== 'talking') return ignored(call)
      return over(call, [
        ended(callerFact(call, at), { endReason: EndReason.normal, endedBy: EndedBy.remote, cause: 16, sipCode: null }),
      ])
    case 'agent-hangup':
      return agentHangup(call, cue, at)
  }
}

function route(call: SimulatedCall, at: string): Step {
  const proceeding: Fact = { ...callerFact(call, at), kind: 'proceeding' }
  const ringing: SimulatedCall = { ...call, phase: 'ringing' }
  if (call.callee !== null) {
    return {
      call: ringing,
      facts: [proceeding, rung(call, call.callee, at)],
      next: { cue: { kind: 'ring-out' }, afterMs: RING_OUT_MS },
    }
  }
  const behaviour = behaviourOf(call.destination)
  switch (behaviour.kind) {
    case 'fails':
      return over(call, [ended(callerFact(call, at), { ...behaviour, endedBy: EndedBy.remote })])
    case 'answers':
      return { call: ringing, facts: [proceeding], next: { cue: { kind: 'answer' }, afterMs: behaviour.afterMs } }
    case 'rings-out':
      return { call: ringing, facts: [proceeding], next: { cue: { kind: 'ring-out' }, afterMs: RING_OUT_MS } }
  }
}

/** Who hangs up before the answer cancels (the caller) or rejects (the called agent); afterwards it is a normal end. */
function agentHangup(call: SimulatedCall, cue: Extract<Cue, { kind: 'agent-hangup' }>, at: string): Step {
  if (call.phase === 'over') return ignored(call)
  const byCaller = cue.agentUri === call.caller
  const unanswered = byCaller
    ? { endReason: EndReason.cancelled, cause: 127, sipCode: 487 }
    : { endReason: EndReason.rejected, cause: 21, sipCode: 603 }
  const how = call.phase === 'talking' ? { endReason: EndReason.normal, cause: 16, sipCode: null } : unanswered
  // A caller may hang up before the switch has begun to dial: the leg must exist before it can end.
  const opening = call.phase === 'dialled' ? [opened(call, at)] : []
  const endings = bothEnded(call, at, { ...how, endedBy: EndedBy.remote }).map((fact) =>
    fact.agentUri === cue.agentUri ? { ...fact, endedBy: EndedBy.agent, commandId: cue.commandId } : fact,
  )
  return over(call, [...opening, ...endings])
}

type Ending = Pick<LegEnded, 'endReason' | 'endedBy' | 'cause' | 'sipCode'>

const ignored = (call: SimulatedCall): Step => ({ call, facts: [], next: null })

const over = (call: SimulatedCall, facts: readonly Fact[]): Step => ({
  call: { ...call, phase: 'over' },
  facts,
  next: null,
})

const callerFact = (call: SimulatedCall, at: string) => ({
  tenant: call.tenant,
  callId: call.callId,
  agentUri: call.caller,
  at,
  commandId: call.commandId,
})

const ended = (leg: ReturnType<typeof callerFact>, { endReason, endedBy, cause, sipCode }: Ending): LegEnded => ({
  ...leg,
  kind: 'ended',
  endReason,
  endedBy,
  cause,
  sipCode,
})

/** The callee has a leg only from the moment it is rung. */
function bothEnded(call: SimulatedCall, at: string, how: Ending): LegEnded[] {
  const caller = ended(callerFact(call, at), how)
  const calleeHasLeg = call.callee !== null && (call.phase === 'ringing' || call.phase === 'talking')
  return calleeHasLeg ? [caller, { ...caller, agentUri: call.callee.agentUri }] : [caller]
}

function opened(call: SimulatedCall, at: string): Fact {
  return {
    ...callerFact(call, at),
    kind: 'opened',
    direction: Direction.outbound,
    role: Role.originator,
    internal: call.callee !== null,
    remoteParty: call.callee === null ? outsideParty(call.destination) : agentParty(call.callee.agentUri),
    device: call.callerDevice,
  }
}

function rung(call: SimulatedCall, callee: NonNullable<SimulatedCall['callee']>, at: string): Fact {
  return {
    ...callerFact(call, at),
    agentUri: callee.agentUri,
    kind: 'opened',
    direction: Direction.inbound,
    role: Role.destination,
    internal: true,
    remoteParty: agentParty(call.caller),
    device: callee.device,
  }
}

const agentParty = (agentUri: string): RemoteParty => ({
  uri: agentUri,
  number: null,
  name: null,
  type: PartyType.agent,
})

function outsideParty(destination: string): RemoteParty {
  const number = numberOf(destination)
  return { uri: number === null ? destination : `tel:${number}`, number, name: null, type: PartyType.external }
}
