import { type CallId, CallState, type CommandId, EndReason, type Tenant } from '@switchhook/contracts'
import { isSameAddress } from '../call-model/address.ts'
import type { Ending, LegReport } from '../platform.ts'

// The rules of calls and transfers are the same on every platform.

export type Party =
  | { readonly kind: 'agent'; readonly agentUri: string; readonly device: string | null }
  /**
   * `address` as dialled, or as received from the caller. At Asterisk, `line` tells two parties with one number apart.
   * `holds`: the party has put the other one on hold, whoever that is after a transfer.
   */
  | {
      readonly kind: 'outside'
      readonly address: string
      /** As the platform knows it. */
      readonly name?: string
      readonly line?: string
      readonly holds?: true
    }

export interface PendingTransfer {
  /** The agent who transfers. */
  readonly by: string
  readonly target: Party
  /**
   * The call in which the target rings for the customer; null: the target does not ring yet, or is consulted. It is
   * another call if the target is an agent whose leg of this call has ended, because an ended leg is final.
   */
  readonly ringsIn: CallId | null
  /** null: a blind transfer, or one that was completed while the target was ringing. */
  readonly consultation: CallId | null
  /** The agent has left; the customer waits for the target alone. */
  readonly isAbandoned: boolean
  /** The target has failed for this reason, so the agent who has left is called back: the target is that agent now. */
  readonly failedBecause?: EndReason
  /** The step that began it. Absent: it began at a phone. */
  readonly begunAt?: number
}

/** A call has two parties, and during a transfer a third one. */
export interface Call {
  readonly callId: CallId
  /** seized: the called party is not ringing yet. `over` is final. */
  readonly phase: 'seized' | 'ringing' | 'talking' | 'over'
  readonly caller: Party
  readonly called: Party
  readonly cli: string | null
  readonly correlationId: string | null
  /** How long an outside caller talks after the answer; null: `MAX_TALK_MS`. */
  readonly talkMs: number | null
  /** Of a consultation: the original call. */
  readonly forCallId: CallId | null
  readonly transfer: PendingTransfer | null
}

export const newCall = (call: Pick<Call, 'callId' | 'phase' | 'caller' | 'called'> & Partial<Call>): Call => ({
  cli: null,
  correlationId: null,
  talkMs: null,
  forCallId: null,
  transfer: null,
  ...call,
})

/** A leg as stored. Only an ended one is marked: no later report is made from it. */
interface StoredLeg extends LegReport {
  readonly isEndRecorded?: true
}

/**
 * A call and its consultations, stored as one record because they change together. `legs` has the latest report of
 * every leg, ended legs included. The reports whose order equals `step` belong to the last step; a process that does
 * not know whether they were delivered to the listener delivers them again, except a marked end: the listener forgets a
 * call some minutes after its end, and would take the end for that of a new call.
 */
export interface CallGroup {
  readonly tenant: Tenant
  /** The id of the first call. */
  readonly sessionId: CallId
  /** Counts the steps that changed something. */
  readonly step: number
  readonly calls: Readonly<Record<CallId, Call>>
  readonly legs: readonly StoredLeg[]
  /** The latest commands, so that a repeated one has no effect. */
  readonly commands: readonly CommandId[]
}

export type RemoteAction = 'answer' | 'hangup' | 'hold' | 'resume'

/** Something that happens to a call group: a command, an action of the outside party, or a timer. */
export type CallStep =
  /** The called party has been found. */
  | { readonly kind: 'route'; readonly callId: CallId }
  | { readonly kind: 'ring-out'; readonly callId: CallId }
  | { readonly kind: 'remote'; readonly callId: CallId; readonly action: RemoteAction }
  /** The same for the target of a transfer. `callId` is the transferred call. */
  | {
      readonly kind: 'transfer-route' | 'transfer-answer' | 'transfer-ring-out'
      readonly callId: CallId
      /** Of the transfer. Another transfer of the call ignores the step. */
      readonly begunAt?: number
    }
  | AgentStep
  | { readonly kind: 'device-offline'; readonly agentUri: string }
  /** Changes nothing. Applying it repeats the last reports if necessary. */
  | { readonly kind: 'tell' }

/** An agent acts on a leg, by a command or (`commandId` null) at the phone. */
export type AgentStep<Callee = Party> = {
  readonly callId: CallId
  readonly agentUri: string
  readonly commandId: CommandId | null
  /** Recognises a repeat; absent: `commandId` does. */
  readonly repeatId?: CommandId
  /** The platform cannot carry out the command. For example, another call of the agent could not be held first. */
  readonly isInVain?: boolean
} & (
  | { readonly kind: 'answer' | 'hangup' | 'hold' | 'resume' }
  | { readonly kind: 'completeTransfer'; readonly correlationId?: string | null }
  | {
      readonly kind: 'transfer'
      /** `asked` is the address as requested. */
      readonly target: Callee & { readonly asked: string }
      readonly correlationId: string | null
      readonly consultationCallId: CallId | null
      /** What the platform presents to an outside target if the call has no `cli`; absent: it does not say. */
      readonly cli?: string
    }
)

export type HowEnded = Omit<Ending, 'endedBy'>

/** End reasons with the Q.850 causes (in SIP: RFC 3326) and SIP codes (RFC 3261) that Asterisk reports for them. */
export const ENDINGS = {
  normal: { endReason: EndReason.normal, cause: 16, sipCode: null },
  cancelled: { endReason: EndReason.cancelled, cause: 127, sipCode: 487 },
  rejected: { endReason: EndReason.rejected, cause: 21, sipCode: 603 },
  badAddress: { endReason: EndReason.badAddress, cause: 1, sipCode: 404 },
  busy: { endReason: EndReason.busy, cause: 17, sipCode: 486 },
  noAnswer: { endReason: EndReason.noAnswer, cause: 19, sipCode: 480 },
  deviceUnavailable: { endReason: EndReason.deviceUnavailable, cause: 20, sipCode: 480 },
  transferred: { endReason: EndReason.transferred, cause: 16, sipCode: null },
} as const

/** Whether a device can ring: busy means that all its lines are in use. */
export type DeviceState = 'free' | 'busy' | 'offline'

export interface ScheduledStep {
  readonly step: CallStep
  readonly dueInMs: number
}

export interface StepResult {
  /** The same object if the step changed nothing. */
  readonly group: CallGroup
  readonly scheduled: readonly ScheduledStep[]
}

export const reportsOfLastStep = ({ legs, step }: CallGroup): readonly LegReport[] =>
  legs.filter(({ order, isEndRecorded }) => order === step && isEndRecorded !== true)

/** Marks the ends that the listener has recorded. The same group if there is nothing to mark. */
export function markEnds(group: CallGroup, isRecorded: (leg: LegReport) => boolean): CallGroup {
  const isNew = (leg: StoredLeg): boolean =>
    leg.state === CallState.ended && leg.isEndRecorded !== true && isRecorded(leg)
  if (!group.legs.some(isNew)) return group
  return { ...group, legs: group.legs.map((leg) => (isNew(leg) ? { ...leg, isEndRecorded: true } : leg)) }
}

export const isOver = ({ calls }: CallGroup): boolean => Object.values(calls).every(({ phase }) => phase === 'over')

export const isAgent = (party: Party, agentUri: string): boolean =>
  party.kind === 'agent' && party.agentUri === agentUri

export const isSameParty = (one: Party, other: Party): boolean =>
  one.kind === 'agent'
    ? isAgent(other, one.agentUri)
    : other.kind === 'outside' && isSameAddress(one.address, other.address)

export const otherParty = ({ caller, called }: Call, agentUri: string): Party =>
  isAgent(caller, agentUri) ? called : caller
