import type {
  CallCommand,
  CallId,
  CallState,
  CallStatus,
  CommandId,
  Consultation,
  Direction,
  EndReason,
  LegRole,
  RemoteParty,
  Tenant,
  Transfer,
} from '@switchhook/contracts'

/** An agent who is provisioned in the contact center. Switchhook knows no other agents. */
export interface ProvisionedAgent {
  readonly agentUri: string
  /** null: an agent of the installation itself. */
  readonly tenant: Tenant
  readonly device: string | null
  /** False: the device cannot be made to answer, so the `answer` command is impossible. Absent: it can. */
  readonly remoteAnswer?: boolean
}

/** The adapter's link to its platform. `standby`: another replica receives the events. `lost`: no replica is known to. */
export type LinkState = 'connected' | 'standby' | 'lost'

interface AgentPage {
  readonly limit: number
  /** The URI after which the page begins; absent: the first page. */
  readonly after?: string
}

/** The leg that a command acts on: one agent's part of one call. */
export interface LegCommand {
  readonly tenant: Tenant
  readonly callId: CallId
  /** A provisioned agent of this tenant; the api checks it with `findAgent` first. */
  readonly agentUri: string
  /** Chosen by the api. Repeating a command with the same id has no effect. */
  readonly commandId: CommandId
  /** What the api has read for this command. An adapter whose storage is the api's hands it back with its own reads and writes. */
  readonly known?: KnownRecords
}

/** A stored record and its version, or version 0 if there is none. */
export interface StoredRecord {
  readonly version: number
  readonly value: unknown
}

/** Records of the command's tenant as they were read, by key. A write that relies on an outdated one conflicts. */
export type KnownRecords = ReadonlyMap<string, StoredRecord>

interface DialCommand extends LegCommand {
  /** Agent URI, extension or external number. */
  readonly destination: string
  /** The number to show to the called party; null: the platform's choice. */
  readonly cli: string | null
  readonly correlationId: string | null
}

/** A command that connects the agent to this leg. */
export interface TalkCommand extends LegCommand {
  /** The agent's other connected calls. The platform holds and reports them first, then connects this leg. */
  readonly holdFirst: readonly CallId[]
}

interface CompleteTransferCommand extends LegCommand {
  /** Replaces the correlation id in all later reports of this call and of its consultation; null: no change. */
  readonly correlationId: string | null
}

interface TransferCommand extends CompleteTransferCommand {
  /** Agent URI, extension or external number. */
  readonly target: string
  /** The id of the new consultation call of an attended transfer; null: a blind transfer. */
  readonly consultationCallId: CallId | null
}

export type Ending = Pick<CallStatus, 'endReason' | 'endedBy' | 'cause' | 'sipCode'>

/**
 * The complete state of one agent's leg, never a delta. Reports can therefore be lost (the next one makes up for it),
 * repeated (a repeat changes nothing) and delayed (`order` shows that a report is out of date).
 */
export interface LegReport {
  readonly tenant: Tenant
  readonly callId: CallId
  readonly agentUri: string
  /** Rises with every new report of this leg, gaps allowed. A repeated report has the same order. */
  readonly order: number
  /** When the reported change happened. ISO 8601, UTC. A repeated report has the same time. */
  readonly at: string
  /** The command that caused the change; null if none did. */
  readonly commandId: CommandId | null
  readonly state: CallState
  readonly direction: Direction
  readonly role: LegRole
  /** Both parties are agents of the contact center. */
  readonly internal: boolean
  readonly remoteParty: RemoteParty
  readonly device: string | null
  readonly cli: string | null
  readonly correlationId: string | null
  /** The other party has put the agent on hold. */
  readonly remoteHeld: boolean
  /** The latest transfer that this leg takes part in. It stays after the transfer has ended, with its final status. */
  readonly transfer: Transfer | null
  /** On both calls of an attended transfer while the consultation lasts; null otherwise. */
  readonly consultation: Consultation | null
  /** Set if and only if the state is `ended`. */
  readonly ending: Ending | null
  /** A command that the platform accepted but could not carry out. The report that says so keeps the leg's state. */
  readonly failedCommand: {
    readonly commandId: CommandId
    readonly command: CallCommand
    readonly reason: EndReason
  } | null
  /** A command whose result was there already. The report that says so keeps the leg's state. */
  readonly doneCommand?: { readonly commandId: CommandId; readonly command: CallCommand } | null
}

/** Whether an agent's device is reachable. A device that was never reported counts as online. */
export interface DeviceReport {
  readonly tenant: Tenant
  readonly agentUri: string
  /** Rises with every change of this device; a repeated report has the same order. */
  readonly order: number
  /** When the device went online or offline. ISO 8601, UTC. */
  readonly at: string
  readonly online: boolean
}

/**
 * Receives the platform's reports. A promise resolves once the reports are stored durably. If it rejects, the platform
 * repeats them later, after a restart if need be, until they are stored or newer reports of the same legs replace them.
 * Calls of the listener may overlap, also from several replicas.
 */
export interface PlatformListener {
  /** Reports of one moment and one tenant, which are stored together or not at all. */
  legs(reports: readonly LegReport[]): Promise<void>
  device(report: DeviceReport): Promise<void>
}

/** The platform certainly did not receive the command, so the client can repeat it safely. */
export class PlatformUnavailable extends Error {
  override readonly name = 'PlatformUnavailable'
}

/**
 * The port to a contact-center platform: commands go in, reports come out. Only reports change the stored calls.
 *
 * Every adapter promises the following of a command; the conformance suite (`describePlatform`) checks it.
 * - It resolves once the platform has accepted it, or may have accepted it. Reports show the result; they may be stored
 *   before or after the command resolves.
 * - It rejects with PlatformUnavailable only if the platform certainly did not receive it. (Calls of `holdFirst` may be
 *   held by then.) Any other rejection leaves the result open, and reports show it. A command never rejects because of
 *   something that happens after the platform has accepted it.
 * - A command that does not fit the leg's state, because the leg changed after the api checked it, leaves the leg as it
 *   is and is reported as `failedCommand`. `hold` of a held leg, and `answer` or `resume` of a connected one, leave it as
 *   it is and are reported as `doneCommand`. On a leg that has ended or does not exist, nothing is reported, except that a
 *   command on the ended leg of an attended transfer counts for the consultation that goes on.
 * - A command on a leg resolves to `false` if the platform does not know the call. The api then ends the leg.
 * - Repeating a commandId has no effect, even after a restart.
 * - Reports of one leg have rising orders, follow the transitions of the call model, and end with `ended`.
 *
 * If an agent's device goes offline, the agent's legs end with reason deviceUnavailable. A blind transfer that the
 * agent has started continues without the agent, and an attended transfer is completed.
 */
export interface Platform {
  /** Starts to report. Reports that were not stored before a restart are repeated. */
  start(listener: PlatformListener): Promise<void>
  /**
   * Stops reporting. Resolves when no command and no report is in progress. Calls continue, and changes until the next
   * start are reported after it.
   */
  stop(): Promise<void>
  /** The agent of exactly this tenant, or undefined if the platform does not have it. */
  findAgent(tenant: Tenant, agentUri: string): Promise<ProvisionedAgent | undefined>
  /** Agents of exactly this tenant in the order of their URIs: at most `limit`, those after `after`. */
  listAgents(tenant: Tenant, page: AgentPage): Promise<readonly ProvisionedAgent[]>
  /**
   * Starts a call under this id: the leg is reported as initiated, then usually proceeding, connected, ended. If the
   * destination is an agent, that agent's leg of the same call is reported as alerting, or as ended at once if the
   * device does not ring. A call that cannot be set up ends with its reason: busy, badAddress, noAnswer. Dialling a callId again has no effect, whatever the commandId.
   */
  dial(command: DialCommand): Promise<void>
  /** Connects an alerting leg. If a call of `holdFirst` cannot be held, the hold and the answer are reported failed. */
  answer(command: TalkCommand): Promise<boolean>
  /**
   * Ends this agent's leg, and the call with it. The reason is normal after an answer; before it, cancelled if the
   * agent dialled and rejected if the agent was called. In a transfer that this agent has started:
   * - blind: the leg ends with reason transferred, and the other party waits for the target. If the target fails, this
   *   agent is called back in a call with a new id. If that fails too, the call ends;
   * - attended, on either leg: the transfer is completed as by `completeTransfer`. If the target does not ring yet,
   *   hanging up the consultation cancels the transfer.
   */
  hangup(command: LegCommand): Promise<boolean>
  /** Puts a connected leg on hold. If the other party is an agent, that agent's leg is reported as `remoteHeld`. */
  hold(command: LegCommand): Promise<boolean>
  /**
   * Connects a held leg again. `holdFirst` works as in `answer`; it never contains the consultation of this call. If
   * this agent is transferring the call, resume cancels the transfer: its status becomes cancelled, and the target's
   * leg or the consultation ends with reason cancelled.
   */
  resume(command: TalkCommand): Promise<boolean>
  /**
   * Starts a transfer. The leg is held, with `transfer.status` started and then ringing.
   * - Blind: when the target answers, the leg ends with reason transferred, and the target has a leg of the same call.
   *   (An agent whose leg of this call has ended gets a new call id; `transfer.otherCallId` refers to this call.)
   * - Attended: the agent also gets a leg of the consultation call, which rings the target. The transfer ends with
   *   `completeTransfer`, `hangup` or `resume`.
   *
   * If the target is busy, rejects or does not answer, the leg is connected again, with status failed and the reason. It
   * stays held if the agent talks or dials in another call by then. A transfer to the other party of the call fails, and
   * so does a transfer of the consultation by the agent who consults.
   */
  transfer(command: TransferCommand): Promise<boolean>
  /**
   * Completes the attended transfer that this agent has started; the command names the original call. If the target has
   * answered, both legs of the agent end with reason transferred, and the target moves to the original call. If the
   * target still rings, only the consultation ends, and the target rings in the original call, as in a blind transfer.
   * If the target has transferred the consultation, its new party is the target.
   */
  completeTransfer(command: CompleteTransferCommand): Promise<boolean>
  /**
   * The latest report of every leg of a call, ended legs included; empty if the platform does not know the call. Their
   * orders compare with those of the reports. The platform may forget a call after it has ended; a leg that the api has
   * stored as live and that is missing here ends with reason platformLost.
   * @throws PlatformUnavailable or the error of its storage: a failure must not look like an unknown call
   */
  lookUp(tenant: Tenant, callId: CallId): Promise<readonly LegReport[]>
}
