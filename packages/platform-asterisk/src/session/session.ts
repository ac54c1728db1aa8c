import type { CallId, CommandId } from '@switchhook/contracts'
import type { Call, CallGroup, Party } from '@switchhook/platform'

/** A SIP leg that Asterisk carries for this session. */
export interface Channel {
  readonly id: string
  /** The party at its far end: an agent's URI, or the name of an outside line. */
  readonly line: string
  /**
   * `placed`: we called the party. `arrived`: the party called us. `line`: an agent's open line, which outlives calls.
   * `lent`: the same channel in a call that uses it.
   */
  readonly origin: 'placed' | 'arrived' | 'line' | 'lent'
  readonly state: 'asked' | 'ringing' | 'up' | 'gone'
  /** When the channel was asked for, milliseconds since 1970. A younger one may be missing from Asterisk's list. */
  readonly askedAtMs: number
  /** It is in our Stasis application, so it can be moved between bridges. */
  readonly isReady: boolean
  /** The bridge that it was moved to last. */
  readonly bridge: string | null
  /** Of `lent`: the call rings or is on hold by command, so the line serves other calls. Asterisk's list changes nothing of it. */
  readonly isFree: boolean
  readonly isDialled: boolean
  /** An arrived channel hears ringback. */
  readonly isRung: boolean
  readonly isAnswered: boolean
  /** The adapter is ending it, so its end is not an action of its party. */
  readonly isLeaving: boolean
  /** Who asked for the end. Asterisk reports it before the end itself. */
  readonly endAskedBy: 'party' | 'shutdown' | null
  /** Since when Asterisk's lists do not have it, milliseconds since 1970; null: they have it. */
  readonly missingSinceMs: number | null
  /** The agent has pressed hold at the phone. */
  readonly isHeldAtPhone: boolean
}

/** An `answer` command whose phone has not answered yet. */
export interface PendingAnswer {
  readonly callId: CallId
  readonly agentUri: string
  readonly commandId: CommandId
  /** `again`: the phone is called again with auto-answer headers. */
  readonly how: RemoteAnswer
}

/** A transfer that an agent has asked for at the phone. The phone is told how it ended (RFC 3515). */
export interface Referral {
  readonly channelId: string
  readonly callId: CallId
  readonly agentUri: string
  /** The step that began the transfer. */
  readonly begunAt: number | undefined
}

/** How an agent's ringing phone can be made to answer. */
export type RemoteAnswer =
  /** By a NOTIFY with `Event: talk`. */
  | 'talk'
  /** By a second call with auto-answer headers that replaces the first. */
  | 'again'
  /** The phone is connected all day, and calls are bridged to it. */
  | 'connected'

/** The stored record of a call and its consultations, with the channels and bridges that carry them. */
export interface PbxSession {
  readonly group: CallGroup
  readonly channels: readonly Channel[]
  /** Bridges that have been asked for and not been deleted. */
  readonly bridges: readonly string[]
  /** How many names of channels and outside lines have been given. */
  readonly named: number
  readonly pendingAnswers: readonly PendingAnswer[]
  readonly referrals: readonly Referral[]
}

/** The line of a party: the key of its channel. */
export const lineOf = (party: Party): string =>
  party.kind === 'agent' ? party.agentUri : (party.line ?? party.address)

/** Whether the party of this line is one of the two. An agent who has left a transfer is not: the customer waits alone. */
export const isIn = ({ caller, called, transfer }: Call, line: string): boolean =>
  (lineOf(caller) === line || lineOf(called) === line) && !(transfer?.isAbandoned === true && transfer.by === line)

export const isLive = ({ state }: Channel): boolean => state !== 'gone'

/** Every call is over, and every channel and bridge has ended. The session of a line, which has no calls, is kept. */
export const isFinished = ({ group, channels, bridges }: PbxSession): boolean => {
  const calls = Object.values(group.calls)
  const isOver = calls.length > 0 && calls.every(({ phase }) => phase === 'over')
  return isOver && !channels.some(isLive) && bridges.length === 0
}

export const newSession = (group: CallGroup, named: number): PbxSession => ({
  group,
  channels: [],
  bridges: [],
  named,
  pendingAnswers: [],
  referrals: [],
})

export const newChannel = (channel: Pick<Channel, 'id' | 'line' | 'origin' | 'askedAtMs'>): Channel => ({
  state: 'asked',
  isReady: false,
  bridge: null,
  isFree: false,
  isDialled: false,
  isRung: false,
  isAnswered: false,
  isLeaving: false,
  endAskedBy: null,
  missingSinceMs: null,
  isHeldAtPhone: false,
  ...channel,
})
