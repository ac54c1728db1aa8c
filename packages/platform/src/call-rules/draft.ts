import { type CallId, CallState, type CommandId, EndedBy, type Transfer, uuidV5 } from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'
import type { Call, CallGroup, CallStep, HowEnded, Party, ScheduledStep, StepResult } from './call-group.ts'
import { otherParty } from './call-group.ts'
import { remotePartyOf } from './destinations.ts'
import { occupiesAgent } from './live-calls.ts'

/** More than a client repeats. */
const REMEMBERED_COMMANDS = 8

/** The agent, an outside party or the platform itself. */
export type EndedByParty = { readonly agentUri: string } | 'outside' | 'switch'

export interface DraftContext {
  /** Time of the step, ISO 8601, UTC. */
  readonly at: string
  /** The command that the reports name as their cause. */
  readonly commandId: CommandId | null
  /** Remembered, to recognise a repeat; absent: `commandId`. */
  readonly repeatId?: CommandId | null
  /** Agents who talk or dial in a call of another group; absent: none. */
  readonly busyElsewhere?: ReadonlySet<string>
}

type NewLeg = Pick<LegReport, 'state' | 'direction' | 'role'> & Partial<LegReport>

/**
 * The call group while one step is applied to it. The rules of calls read it, change calls, report legs and
 * schedule further steps; each sees the changes of the previous ones. `finish` returns the next call group, with one
 * new report for every leg that was reported.
 */
export class Draft {
  readonly #group: CallGroup
  readonly #context: DraftContext
  readonly #calls: Map<CallId, Call>
  readonly #legs: Map<string, LegReport>
  readonly #scheduled: ScheduledStep[] = []
  #isChanged = false

  constructor(group: CallGroup, context: DraftContext) {
    this.#group = group
    this.#context = context
    this.#calls = new Map(Object.values(group.calls).map((call) => [call.callId, call]))
    this.#legs = new Map(group.legs.map((leg) => [legKey(leg.callId, leg.agentUri), leg]))
  }

  get step(): number {
    return this.#group.step + 1
  }

  /** A call that is not over. */
  call(callId: CallId | null): Call | undefined {
    const call = callId === null ? undefined : this.#calls.get(callId)
    return call?.phase === 'over' ? undefined : call
  }

  /** Of a consultation: the call whose transfer is pending. */
  originalOf({ callId, forCallId }: Call): Call | undefined {
    const original = this.call(forCallId)
    return original?.transfer?.consultation === callId ? original : undefined
  }

  /** The call whose transfer rings its target in this call. */
  transferRingingIn(callId: CallId): Call | undefined {
    return [...this.#calls.values()].find(({ transfer, phase }) => phase !== 'over' && transfer?.ringsIn === callId)
  }

  /** Calls in which this agent has a leg that has not ended. */
  callsOf(agentUri: string): readonly Call[] {
    return [...this.#calls.values()].filter(({ callId }) => this.leg(callId, agentUri) !== undefined)
  }

  putCall(call: Call): Call {
    this.#isChanged = true
    this.#calls.set(call.callId, call)
    return call
  }

  /** An agent's leg that has not ended. */
  leg(callId: CallId, agentUri: string): LegReport | undefined {
    const leg = this.#legs.get(legKey(callId, agentUri))
    return leg?.state === CallState.ended ? undefined : leg
  }

  /** The legs that have not ended. */
  legsOf(callId: CallId): readonly LegReport[] {
    return [...this.#legs.values()].filter((leg) => leg.callId === callId && leg.state !== CallState.ended)
  }

  /** The leg of the customer in a transfer by `agentUri`, if the customer is an agent. */
  customerLeg(call: Call, agentUri: string): LegReport | undefined {
    const customer = otherParty(call, agentUri)
    return customer.kind === 'agent' ? this.leg(call.callId, customer.agentUri) : undefined
  }

  /** Whether a party of the call has put the other one on hold. */
  isHolding(callId: CallId, party: Party): boolean {
    if (party.kind === 'outside') return party.holds === true
    return this.leg(callId, party.agentUri)?.state === CallState.held
  }

  /** Whether the agent who transfers this call talks or dials in another one, its consultation excepted. */
  isTransferrerBusy({ callId, transfer }: Call): boolean {
    if (transfer === null) return false
    const own = [callId, transfer.consultation]
    const legs = [...this.#legs.values()].filter((leg) => leg.agentUri === transfer.by && !own.includes(leg.callId))
    return legs.some(({ state }) => occupiesAgent(state)) || this.#context.busyElsewhere?.has(transfer.by) === true
  }

  /** The transfer in an agent's leg, which may have ended. */
  lastTransferOf(callId: CallId, agentUri: string): Transfer | null {
    return this.#legs.get(legKey(callId, agentUri))?.transfer ?? null
  }

  /**
   * The call in which a transfer's target rings. An agent whose leg of the call has ended rings in a call with a new
   * id, derived from the step, so that repeating the step gives the same id.
   */
  targetsCallId({ callId }: Call, target: Party): CallId {
    const hasHadLeg = target.kind === 'agent' && this.#legs.has(legKey(callId, target.agentUri))
    return hasHadLeg ? (uuidV5(callId, `rings again ${this.#group.step}`) as CallId) : callId
  }

  /** Adds the leg of `party`, whose remote party is `other`. Only agents have legs. */
  addLeg(call: Call, party: Party, other: Party, leg: NewLeg): void {
    if (party.kind !== 'agent') return
    this.#report({
      tenant: this.#group.tenant,
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
      ...leg,
    })
  }

  report(leg: LegReport | undefined, change: Partial<LegReport>): void {
    // The result of a command is in one report only.
    if (leg !== undefined) this.#report({ ...leg, failedCommand: null, doneCommand: null, ...change })
  }

  endLeg(leg: LegReport | undefined, how: HowEnded, by: EndedByParty, change: Partial<LegReport> = {}): void {
    if (leg === undefined) return
    this.report(leg, {
      ...change,
      state: CallState.ended,
      remoteHeld: false,
      consultation: null,
      ending: { ...how, endedBy: endedByOf(by, leg.agentUri) },
    })
  }

  schedule(step: CallStep, dueInMs: number): void {
    this.#scheduled.push({ step, dueInMs })
  }

  finish(): StepResult {
    if (!this.#isChanged) return { group: this.#group, scheduled: [] }
    const { commands } = this.#group
    const { commandId, repeatId = commandId } = this.#context
    const group: CallGroup = {
      ...this.#group,
      step: this.step,
      calls: Object.fromEntries(this.#calls),
      legs: [...this.#legs.values()],
      commands: repeatId === null ? commands : [repeatId, ...commands].slice(0, REMEMBERED_COMMANDS),
    }
    return { group, scheduled: this.#scheduled }
  }

  #report(leg: Omit<LegReport, 'order' | 'at' | 'commandId'>): void {
    this.#isChanged = true
    const { at, commandId } = this.#context
    const report = { ...leg, order: this.step, at, commandId }
    this.#legs.set(legKey(leg.callId, leg.agentUri), report)
  }
}

const legKey = (callId: CallId, agentUri: string): string => `${callId} ${agentUri}`

/** As the agent of a leg sees it. */
export function endedByOf(by: EndedByParty, agentUri: string): EndedBy {
  if (by === 'switch') return EndedBy.system
  return by !== 'outside' && by.agentUri === agentUri ? EndedBy.agent : EndedBy.remote
}
