import type { CallId, CommandId, Direction, EndedBy, EndReason, RemoteParty, Role } from '@switchhook/contracts'

/** An agent as the contact center knows it: whoever is not provisioned there does not exist. */
export interface ProvisionedAgent {
  readonly agentUri: string
  /** null: an agent of the installation itself. */
  readonly tenant: string | null
  readonly device?: string | null
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
}

interface FactBase {
  readonly tenant: string | null
  readonly callId: CallId
  readonly agentUri: string
  /** ISO 8601, UTC. */
  readonly at: string
  /** The command that brought it about, if one did. */
  readonly commandId: CommandId | null
}

/** A leg exists now: the agent dials (initiated) or is rung (alerting). */
export interface LegOpened extends FactBase {
  readonly kind: 'opened'
  readonly direction: Direction
  readonly role: Role
  /** Between two agents of the contact center. */
  readonly internal: boolean
  readonly remoteParty: RemoteParty
  readonly device: string | null
}

/** The far end of an outbound leg rings. */
export interface LegProceeding extends FactBase {
  readonly kind: 'proceeding'
}

export interface LegConnected extends FactBase {
  readonly kind: 'connected'
}

export interface LegEnded extends FactBase {
  readonly kind: 'ended'
  readonly endReason: EndReason
  readonly endedBy: EndedBy
  /** Q.850. */
  readonly cause: number | null
  readonly sipCode: number | null
}

/** Something that really happened to one agent's leg of a call. Facts may be told more than once. */
export type Fact = LegOpened | LegProceeding | LegConnected | LegEnded

/** Resolves once the fact is stored for good; until then the platform tells it again. */
export type FactListener = (fact: Fact) => Promise<void>

/** The platform has certainly not got the command: the client may be told that nothing was done. */
export class PlatformUnavailable extends Error {
  override readonly name = 'PlatformUnavailable'
}

/**
 * The contact-center platform, as the api needs it: commands go in, facts come out, and only facts change what is known
 * of a call. A command resolves when the platform has accepted it, or may have: then the facts tell. It rejects with
 * PlatformUnavailable when the platform has certainly not got it.
 */
export interface Platform {
  /** Begins to tell facts, those first that were left from before a restart. */
  start(listener: FactListener): Promise<void>
  /** Tells no more facts; resolves when none is under way. What is due meanwhile is told after the next start. */
  stop(): Promise<void>
  findAgent(tenant: string | null, agentUri: string): Promise<ProvisionedAgent | undefined>
  /** Dialling the same callId twice makes one call. */
  dial(command: DialCommand): Promise<void>
  /** Hangs up this agent's leg. No effect on a leg that has ended. */
  hangup(command: LegCommand): Promise<void>
}
