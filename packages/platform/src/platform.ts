import type {
  CallCommand,
  CallId,
  CallState,
  CommandId,
  Consultation,
  Direction,
  EndedBy,
  EndReason,
  RemoteParty,
  Role,
  Transfer,
} from '@switchhook/contracts'

/** An agent as the contact center knows it: whoever is not provisioned there does not exist. */
export interface ProvisionedAgent {
  readonly agentUri: string
  /** null: an agent of the installation itself. */
  readonly tenant: string | null
  readonly device: string | null
  /** False: the device cannot be made to answer, so the `answer` command is impossible. Absent: it can. */
  readonly remoteAnswer?: boolean
}

/** What every command names: which call, and whose leg it acts on. */
export interface LegCommand {
  readonly tenant: string | null
  readonly callId: CallId
  readonly agentUri: string
  readonly commandId: CommandId
}

export interface DialCommand extends LegCommand {
  readonly destination: string
  /** The number to show to the called party; null: the platform's choice. */
  readonly cli: string | null
  readonly correlationId: string | null
}

/** A command that makes its leg the one that the agent talks on. */
export interface TalkCommand extends LegCommand {
  /** The agent's other calls that are connected: they are put on hold first, and are held before this leg is connected. */
  readonly holdFirst: readonly CallId[]
}

export interface TransferCommand extends LegCommand {
  /** Agent URI, extension or external number. */
  readonly target: string
  /** null: no change; else the reports of this call and of the consultation carry it from here on. */
  readonly correlationId: string | null
  /** null: blind. Else attended, and the consultation call gets this id. */
  readonly consultationCallId: CallId | null
}

/** Why and how a leg ended. */
export interface Ending {
  readonly endReason: EndReason
  readonly endedBy: EndedBy
  /** Q.850. */
  readonly cause: number | null
  readonly sipCode: number | null
}

/**
 * One agent's leg of a call, as the platform sees it: all of it, never a delta. A report that never arrives is made good
 * by the next one, one that arrives twice changes nothing, and one that arrives too late is known by its `order`.
 */
export interface LegReport {
  readonly tenant: string | null
  readonly callId: CallId
  readonly agentUri: string
  /** Higher with every report of this leg that says something else; the same when it is told again. */
  readonly order: number
  /** When it came to be so. ISO 8601, UTC. */
  readonly at: string
  /** The command that brought it about, if one did. */
  readonly commandId: CommandId | null
  readonly state: CallState
  readonly direction: Direction
  readonly role: Role
  /** Between two agents of the contact center. */
  readonly internal: boolean
  readonly remoteParty: RemoteParty
  readonly device: string | null
  readonly cli: string | null
  readonly correlationId: string | null
  /** Held by the other side. */
  readonly remoteHeld: boolean
  readonly transfer: Transfer | null
  readonly consultation: Consultation | null
  /** Exactly where the state is ended. */
  readonly ending: Ending | null
  /** A command that was accepted and came to nothing; the state is what it was. */
  readonly failedCommand: {
    readonly commandId: CommandId
    readonly command: CallCommand
    readonly reason: EndReason
  } | null
}

/** Whether an agent's device can be reached. */
export interface DeviceReport {
  readonly tenant: string | null
  readonly agentUri: string
  /** As in a leg's report. */
  readonly order: number
  readonly at: string
  readonly online: boolean
}

/** Who is told. Each promise resolves once what was told is stored for good; until then the platform tells it again. */
export interface PlatformListener {
  /** All reports are of one moment and of one tenant: they are stored together. */
  legs(reports: readonly LegReport[]): Promise<void>
  device(report: DeviceReport): Promise<void>
}

/** The platform has certainly not received the command: the client may be told to repeat it. */
export class PlatformUnavailable extends Error {
  override readonly name = 'PlatformUnavailable'
}

/**
 * The contact-center platform, as the api needs it: commands go in, reports come out, and only reports change what is
 * known of a call. A command resolves when the platform has accepted it, or may have; reports then say which. It rejects
 * with PlatformUnavailable when the platform has certainly not received it, and never for what the platform finds out
 * later. (The calls of `holdFirst` may be on hold by then.) A command that no longer fits, because its leg has changed since
 * it was judged, is reported by `failedCommand`, or not at all if the leg has ended. Repeating a commandId has no effect.
 */
export interface Platform {
  /** Begins to report, with what was left from before a restart. */
  start(listener: PlatformListener): Promise<void>
  /** Reports no more; resolves when nothing is under way. What is due meanwhile is reported after the next start. */
  stop(): Promise<void>
  findAgent(tenant: string | null, agentUri: string): Promise<ProvisionedAgent | undefined>
  /** Dialling the same callId twice makes one call. */
  dial(command: DialCommand): Promise<void>
  answer(command: TalkCommand): Promise<void>
  /**
   * Ends this agent's leg. In an attended transfer whose target rings or has answered, it completes the transfer. On a
   * leg that has ended it does nothing.
   */
  hangup(command: LegCommand): Promise<void>
  hold(command: LegCommand): Promise<void>
  /** On a leg whose transfer is under way it cancels the transfer, too. */
  resume(command: TalkCommand): Promise<void>
  transfer(command: TransferCommand): Promise<void>
  /** Hands the call over to the target of the attended transfer that is under way; while it still rings, as if blind. */
  completeTransfer(command: LegCommand): Promise<void>
  /**
   * Every leg of a call as the platform has it now; empty if it does not know the call.
   * @throws PlatformUnavailable if it cannot tell
   */
  lookUp(tenant: string | null, callId: CallId): Promise<readonly LegReport[]>
}
