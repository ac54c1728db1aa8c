import {
  AppError,
  type CallCommand,
  type CallId,
  CallState,
  type CommandId,
  isGuid,
  parseCallId,
  parseCommandId,
} from '@switchhook/contracts'
import { type CommandOnLeg, checkCommand, type Platform, PlatformUnavailable, type Verdict } from '@switchhook/platform'
import type { Agent } from '../agents/agent.ts'
import type { Call } from '../center/call.ts'
import type { Center } from '../center/center.ts'
import type { Answer, Caller, RouteRequest } from '../http/route.ts'
import type { LegBody } from './call-schemas.ts'

export interface CallRouteDeps {
  readonly platform: Platform
  readonly center: Center
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A command, its leg as it is stored, and what is to be done. */
export interface Judged {
  readonly call: Call
  readonly agent: Agent
  readonly commandId: CommandId
  readonly correlationId: string | null
  readonly verdict: Exclude<Verdict, { kind: 'refuse' }>
}

export async function requireAgent(platform: Platform, { tenant }: Caller, agentUri: string): Promise<void> {
  if ((await platform.findAgent(tenant, agentUri)) === undefined) throw new AppError('agent-not-found')
}

/**
 * What every command on a leg begins with: the agent and the call must exist for this caller, and the leg's state must
 * allow it. Nothing has been changed when it throws.
 * @throws AppError agent-not-found, call-not-found, invalid-call-state, transfer-in-progress
 */
export async function judge(
  { platform, center }: CallRouteDeps,
  command: CommandOnLeg,
  { caller, params, body: { agentUri }, idFor }: RouteRequest<LegBody>,
  transfer: { readonly target?: string; readonly consultationCallId?: CallId } = {},
): Promise<Judged> {
  await requireAgent(platform, caller, agentUri)
  const id = params['callId']
  if (!isGuid(id)) throw new AppError('call-not-found')
  const { call, agent } = await center.readLeg(caller.tenant, parseCallId(id), agentUri)
  const leg = call?.legs[agentUri]?.status
  // A call that was dialled a moment ago is the dialler's, though its leg is not known yet.
  const isDialler = call?.dialled?.agentUri === agentUri && !call.isAbandoned
  if (call === undefined || (leg === undefined && !isDialler)) throw new AppError('call-not-found')
  const commandId = parseCommandId(idFor('command'))
  const verdict = checkCommand(command, leg, { commandId, ...transfer })
  if (verdict.kind === 'refuse') {
    const { code, currentState, allowedCommands } = verdict
    throw new AppError(code, { currentState, allowedCommands })
  }
  return { call, agent, commandId, correlationId: leg?.correlationId ?? call.dialled?.correlationId ?? null, verdict }
}

/**
 * The other calls on which the agent talks: to be held before this one is connected.
 * @throws AppError agent-device-unavailable while the agent dials: that cannot be put on hold
 */
export function othersToHold(agent: Agent, callId: CallId, consultation?: CallId): readonly CallId[] {
  const others = agent.calls.filter((other) => other.callId !== callId && other.callId !== consultation)
  if (others.some(({ state }) => state === CallState.initiated || state === CallState.proceeding)) {
    throw new AppError('agent-device-unavailable', { detail: 'The agent is dialling another call' })
  }
  return others.filter(({ state }) => state === CallState.connected).map(({ callId: other }) => other)
}

/** Answers a command with an error only if it was certainly not sent. @throws AppError platform-unavailable */
export async function send<T>(command: Promise<T>): Promise<T> {
  try {
    return await command
  } catch (error) {
    throw error instanceof PlatformUnavailable ? new AppError('platform-unavailable', {}, { cause: error }) : error
  }
}

export function accepted(
  command: CallCommand,
  callId: CallId,
  agentUri: string,
  rest: {
    readonly commandId: CommandId
    readonly correlationId: string | null
    readonly acceptedAt: string
    readonly noop: boolean
    readonly consultationCallId?: CallId
  },
): Answer {
  return { status: 202, body: { callId, agentUri, command, ...rest } }
}
