import { type CallId, CallState, type CommandId } from '@switchhook/contracts'
import { type Call, Draft, type DraftContext, type Party } from '@switchhook/platform'
import type { Action } from './action.ts'
import type { Input } from './input.ts'
import { type Channel, isLive, lineOf, type PbxSession, type PendingAnswer, type Referral } from './session.ts'

export interface LaterInput {
  readonly input: Input
  readonly dueInMs: number
}

/** A session while one step changes it. `calls` holds the calls and legs, the other fields the channels and bridges. */
export class SessionDraft {
  readonly calls: Draft
  readonly atMs: number
  readonly actions: Action[] = []
  readonly later: LaterInput[] = []
  readonly #before: PbxSession
  readonly #channels: Map<string, Channel>
  bridges: readonly string[]
  pendingAnswers: readonly PendingAnswer[]
  referrals: readonly Referral[]
  /** A command that was accepted and takes effect with a later input. */
  accepted: CommandId | null = null
  #named: number

  constructor(before: PbxSession, atMs: number, context: Omit<DraftContext, 'at'>) {
    this.#before = before
    this.atMs = atMs
    this.calls = new Draft(before.group, { at: new Date(atMs).toISOString(), ...context })
    this.#channels = new Map(before.channels.map((channel) => [channel.id, channel]))
    this.bridges = before.bridges
    this.pendingAnswers = before.pendingAnswers
    this.referrals = before.referrals
    this.#named = before.named
  }

  /** Calls that are not over, as they are at this point of the step. */
  liveCalls(): readonly Call[] {
    return this.everyCall().filter(({ phase }) => phase !== 'over')
  }

  everyCall(): readonly Call[] {
    return Object.values(this.calls.finish().group.calls)
  }

  channel(id: string): Channel | undefined {
    return this.#channels.get(id)
  }

  channels(): readonly Channel[] {
    return [...this.#channels.values()]
  }

  liveChannels(): readonly Channel[] {
    return this.channels().filter(isLive)
  }

  /** The channel that serves a party now. */
  channelOf(line: string): Channel | undefined {
    return this.liveChannels().find((channel) => channel.line === line && !channel.isLeaving)
  }

  put(channel: Channel): Channel {
    this.#channels.set(channel.id, channel)
    return channel
  }

  /** An id that no channel of this session has had. */
  newName(): string {
    this.#named += 1
    return `${this.#before.group.sessionId}-${this.#named}`
  }

  isHeldBy(callId: CallId, party: Party): boolean {
    return party.kind === 'agent' && this.calls.leg(callId, party.agentUri)?.state === CallState.held
  }

  /** The call whose transfer rings this line, or is about to, without a consultation. */
  transferTo(line: string): Call | undefined {
    return this.liveCalls().find(
      ({ transfer }) => transfer !== null && transfer.consultation === null && lineOf(transfer.target) === line,
    )
  }

  finish(): PbxSession {
    const group = this.calls.finish().group
    const commands = this.accepted === null ? group.commands : [this.accepted, ...group.commands]
    return {
      group: { ...group, commands },
      channels: this.channels(),
      bridges: this.bridges,
      named: this.#named,
      pendingAnswers: this.pendingAnswers,
      referrals: this.referrals,
    }
  }
}
