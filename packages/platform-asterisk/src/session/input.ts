import type { CommandId } from '@switchhook/contracts'
import type { AgentStep, Party } from '@switchhook/platform'
import type { Channel, RemoteAnswer } from './session.ts'

export type Refusal = 'badAddress' | 'busy' | 'deviceUnavailable'

export interface ListedChannel extends Pick<Channel, 'id' | 'isReady' | 'bridge'> {
  readonly state: 'ringing' | 'up' | 'other'
  /** It has the mark of a session, so its `claim` was carried out. */
  readonly isMarked: boolean
  /** Absent: Asterisk was not asked. */
  readonly isHeldAtPhone?: boolean
}

export type Input = ChannelInput | LineInput | CommandInput | SessionInput

export type ChannelInput = { readonly channelId: string } & (
  | { readonly kind: 'ringing' | 'up' | 'phone-holds' | 'phone-resumes' }
  /** It has entered our application. */
  | { readonly kind: 'ready'; readonly isUp: boolean }
  | { readonly kind: 'end-asked'; readonly by: 'party' | 'shutdown' }
  | { readonly kind: 'gone'; readonly cause: number; readonly sipCode: number | null }
  /** Asterisk refused to create it. */
  | { readonly kind: 'refused' }
  /** The agent asked for a blind transfer at the phone. */
  | { readonly kind: 'phone-transfers'; readonly target: Callee & { readonly asked: string } }
)

/** Concerns a line that an agent keeps open, or a call on it. */
export type LineInput =
  /** The agent has opened the line, perhaps a second time. */
  | { readonly kind: 'line-opens'; readonly channelId: string; readonly agentUri: string }
  /** The call uses the line's channel instead of `channelId`, which was not created. Unanswered, it rings for `ringMs`. */
  | {
      readonly kind: 'line-lent'
      readonly channelId: string
      readonly lineId: string
      readonly isHeldAtPhone: boolean
      readonly ringMs: number
    }
  /** The call on the line was not answered in time. */
  | { readonly kind: 'line-overdue'; readonly lineId: string }
  /** The line's channel has left the bridge of the call. */
  | { readonly kind: 'line-returned'; readonly lineId: string }

/** A party, and why it cannot be called; null: it can. */
export type Callee = Party & { readonly refusal: Refusal | null }

/**
 * `how`: of `answer` and `resume`. null: the phone cannot be made to do it. `isLate`: the phone was asked, and must have obeyed
 * by now.
 */
export type CommandInput = AgentStep<Callee> & { readonly how?: RemoteAnswer | null; readonly isLate?: boolean }

export type SessionInput =
  | { readonly kind: 'answer-overdue'; readonly commandId: CommandId }
  | { readonly kind: 'device-gone'; readonly agentUri: string }
  /** All channels that Asterisk has. `hasRestarted`: it has been started since they were last listed. */
  | { readonly kind: 'listed'; readonly channels: readonly ListedChannel[]; readonly hasRestarted: boolean }
