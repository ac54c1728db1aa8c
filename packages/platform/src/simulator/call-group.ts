import type { CallId, CommandId } from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'

/** Whoever is at one end of a call. */
export type Party =
  | { readonly kind: 'agent'; readonly agentUri: string; readonly device: string | null }
  /** `address` is as it was dialled, or as it called. */
  | { readonly kind: 'outside'; readonly address: string }

/** A transfer that has not come out yet. */
export interface SwitchedTransfer {
  /** The agent who transfers. */
  readonly by: string
  readonly target: Party
  /**
   * The call in which the target is rung for the customer; null: it is not rung yet, or is consulted. An agent whose leg in
   * the call has ended cannot get another one there, and is rung in a call of his own.
   */
  readonly ringsIn: CallId | null
  /** null: blind, or completed while the target still rang. */
  readonly consultation: CallId | null
  /** The agent has left; the customer waits for the target alone. */
  readonly isAbandoned: boolean
}

/** A call in the simulated switch: two parties, and perhaps a third one to whom it is being transferred. */
export interface SwitchedCall {
  readonly callId: CallId
  /** `over` is final. */
  readonly phase: 'seized' | 'ringing' | 'talking' | 'over'
  readonly caller: Party
  readonly called: Party
  readonly cli: string | null
  readonly correlationId: string | null
  /** How long an outside caller stays on the line, once answered; null: as long as anybody. */
  readonly talkMs: number | null
  /** The call that this one is a consultation for. */
  readonly forCallId: CallId | null
  readonly transfer: SwitchedTransfer | null
}

/**
 * A call and its consultations, which change together in one write. `legs` holds the latest report of every leg there ever
 * was; those whose order is `step` were made by the last step, and are told again by whoever does not know that they were.
 */
export interface Session {
  readonly tenant: string | null
  /** The id of its first call. */
  readonly sessionId: CallId
  readonly step: number
  readonly calls: Readonly<Record<CallId, SwitchedCall>>
  readonly legs: readonly LegReport[]
  /** The last commands that were carried out: the same one again does no more. */
  readonly commands: readonly CommandId[]
}

/** The far end does something, as a development endpoint or the clock wants it. */
export type RemoteAction = 'answer' | 'hangup' | 'hold' | 'resume'

/** Something that befalls a call. `commandId` null: it was done at the agent's phone. */
export type Cue =
  /** The switch begins to look for the called party. */
  | { readonly kind: 'route'; readonly callId: CallId }
  | { readonly kind: 'ring-out'; readonly callId: CallId }
  | { readonly kind: 'remote'; readonly callId: CallId; readonly action: RemoteAction }
  /** The same for the target of a transfer, in the call that is being transferred. */
  | { readonly kind: 'transfer-route' | 'transfer-answer' | 'transfer-ring-out'; readonly callId: CallId }
  | LegCue
  | { readonly kind: 'device-gone'; readonly agentUri: string }
  /** Nothing: says again what was said last. */
  | { readonly kind: 'tell' }

export type LegCue = {
  readonly callId: CallId
  readonly agentUri: string
  readonly commandId: CommandId | null
} & (
  | { readonly kind: 'answer' | 'hangup' | 'hold' | 'resume' | 'completeTransfer' }
  /** What had to come before it could not be had: another call did not let itself be held. */
  | { readonly kind: 'answer in vain' | 'resume in vain' }
  | {
      readonly kind: 'transfer'
      readonly target: Party & { readonly asked: string }
      readonly correlationId: string | null
      readonly consultationCallId: CallId | null
    }
)

/** What is known of a device that is to be rung. */
export type DeviceState = 'free' | 'busy' | 'offline'

/** A cue that falls due later. */
export interface LaterCue {
  readonly cue: Cue
  readonly dueInMs: number
}

/** What became of a session. */
export interface Played {
  readonly session: Session
  readonly later: readonly LaterCue[]
}

/** Reports that the last step of a session has made. */
export const latestReports = ({ legs, step }: Session): readonly LegReport[] =>
  legs.filter(({ order }) => order === step)

export const isOver = ({ calls }: Session): boolean => Object.values(calls).every(({ phase }) => phase === 'over')
