import {
  type CallId,
  CallState,
  type CommandId,
  EndedBy,
  PartyType,
  type RemoteParty,
  type Transfer,
  uuidV5,
} from '@switchhook/contracts'
import type { Ending, LegReport } from '../platform.ts'
import type { Cue, LaterCue, Party, Played, Session, SwitchedCall } from './call-group.ts'
import { outsideParty } from './destinations.ts'

/** More than a client repeats. */
const COMMANDS_REMEMBERED = 8

/** Who ended a call: an agent, somebody outside, or the switch itself. */
export type EndedByWhom = { readonly agentUri: string } | 'outside' | 'switch'

type Opening = Pick<LegReport, 'state' | 'direction' | 'role'> & Partial<LegReport>

/**
 * A session while one step is made of it. What is changed here is seen by the rest of the step; `finish` makes the next
 * session of it, in which every leg that was touched has one new report.
 */
export class Board {
  readonly #session: Session
  readonly #at: string
  readonly #commandId: CommandId | null
  readonly #calls: Map<CallId, SwitchedCall>
  readonly #legs: Map<string, LegReport>
  readonly #later: LaterCue[] = []
  #isChanged = false

  constructor(session: Session, at: string, commandId: CommandId | null) {
    this.#session = session
    this.#at = at
    this.#commandId = commandId
    this.#calls = new Map(Object.values(session.calls).map((call) => [call.callId, call]))
    this.#legs = new Map(session.legs.map((leg) => [legKey(leg.callId, leg.agentUri), leg]))
  }

  /** A call that is not over. */
  call(callId: CallId | null): SwitchedCall | undefined {
    const call = callId === null ? undefined : this.#calls.get(callId)
    return call?.phase === 'over' ? undefined : call
  }

  put(call: SwitchedCall): SwitchedCall {
    this.#isChanged = true
    this.#calls.set(call.callId, call)
    return call
  }

  /** Has this agent ever been in the call? What has ended cannot begin again. */
  hasHadLeg(callId: CallId, agentUri: string): boolean {
    return this.#legs.has(legKey(callId, agentUri))
  }

  /** What an agent's leg said last of its transfer, ended or not. */
  lastTransferOf(callId: CallId, agentUri: string): Transfer | null {
    return this.#legs.get(legKey(callId, agentUri))?.transfer ?? null
  }

  /** The call whose transfer rings its target in this one. */
  transferRingingIn(callId: CallId): SwitchedCall | undefined {
    return [...this.#calls.values()].find(({ transfer, phase }) => phase !== 'over' && transfer?.ringsIn === callId)
  }

  /** A new call id, the same whenever this step is made again. */
  ownCallId(callId: CallId): CallId {
    return uuidV5(callId, `rings again ${this.#session.step}`) as CallId
  }

  /** An agent's leg that has not ended. */
  leg(callId: CallId, agentUri: string): LegReport | undefined {
    const leg = this.#legs.get(legKey(callId, agentUri))
    return leg?.state === CallState.ended ? undefined : leg
  }

  legsOf(callId: CallId): readonly LegReport[] {
    return [...this.#legs.values()].filter((leg) => leg.callId === callId && leg.state !== CallState.ended)
  }

  /** Calls in which this agent has a live leg. */
  callsOf(agentUri: string): readonly SwitchedCall[] {
    return [...this.#calls.values()].filter(({ callId }) => this.leg(callId, agentUri) !== undefined)
  }

  /** A leg begins: `party` is in the call with `other`. */
  open(call: SwitchedCall, party: Party, other: Party, opening: Opening): void {
    if (party.kind !== 'agent') return
    this.#tell({
      tenant: this.#session.tenant,
      callId: call.callId,
      agentUri: party.agentUri,
      device: party.device,
      cli: call.cli,
      correlationId: call.correlationId,
      internal: other.kind === 'agent',
      remoteParty: remotePartyOf(other),
      remoteHeld: false,
      transfer: null,
      consultation: null,
      ending: null,
      failedCommand: null,
      ...opening,
    })
  }

  /** Something about a live leg is new. */
  tell(leg: LegReport | undefined, change: Partial<LegReport>): void {
    // A command that came to nothing is told once.
    if (leg !== undefined) this.#tell({ ...leg, failedCommand: null, ...change })
  }

  end(
    leg: LegReport | undefined,
    ending: Omit<Ending, 'endedBy'>,
    by: EndedByWhom,
    change: Partial<LegReport> = {},
  ): void {
    if (leg === undefined) return
    this.tell(leg, {
      ...change,
      state: CallState.ended,
      remoteHeld: false,
      consultation: null,
      ending: { ...ending, endedBy: endedByOf(by, leg.agentUri) },
    })
  }

  later(cue: Cue, dueInMs: number): void {
    this.#later.push({ cue, dueInMs })
  }

  finish(): Played {
    if (!this.#isChanged) return { session: this.#session, later: [] }
    const { commands, step } = this.#session
    const session: Session = {
      ...this.#session,
      step: step + 1,
      calls: Object.fromEntries(this.#calls),
      legs: [...this.#legs.values()],
      commands: this.#commandId === null ? commands : [this.#commandId, ...commands].slice(0, COMMANDS_REMEMBERED),
    }
    return { session, later: this.#later }
  }

  #tell(leg: Omit<LegReport, 'order' | 'at' | 'commandId'>): void {
    this.#isChanged = true
    const told = { ...leg, order: this.#session.step + 1, at: this.#at, commandId: this.#commandId }
    this.#legs.set(legKey(leg.callId, leg.agentUri), told)
  }
}

const legKey = (callId: CallId, agentUri: string): string => `${callId} ${agentUri}`

export function remotePartyOf(party: Party): RemoteParty {
  if (party.kind === 'outside') return outsideParty(party.address)
  return { uri: party.agentUri, number: null, name: null, type: PartyType.agent }
}

function endedByOf(by: EndedByWhom, agentUri: string): EndedBy {
  if (by === 'switch') return EndedBy.system
  return by !== 'outside' && by.agentUri === agentUri ? EndedBy.agent : EndedBy.remote
}
