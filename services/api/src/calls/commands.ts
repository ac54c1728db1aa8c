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
import {
  type CommandOnLeg,
  checkCommand,
  type Platform,
  PlatformUnavailable,
  type ProvisionedAgent,
  type Verdict,
} from '@switchhook/platform'
import type { Agent } from '../agents/agent.ts'
import type { Center } from '../center/center.ts'
import type { Answer, Caller, Route, RouteRequest, Schema } from '../http/route.ts'
import type { Call } from './call.ts'
import type { LegBody } from './call-schemas.ts'
import {
  missingAgentUri,
  missingAgentUriNote,
  type StatusWithoutAgent,
  validateCallCommand,
} from './missing-agent-uri.ts'

export interface CallRouteDeps {
  readonly platform: Platform
  readonly center: Center
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface CommandRoute<Body>
  extends Pick<Route<Body>, 'path' | 'operationId' | 'summary' | 'responses' | 'failures' | 'handle'> {
  readonly params?: NonNullable<Route['params']>
  readonly body: Schema
  readonly description: string
  /** The answer to a request without an agentUri. */
  readonly withoutAgentUri: StatusWithoutAgent
  /** The field that must not name the agent. */
  readonly otherParty?: 'destination' | 'transferTarget'
}

/** The route of a call command: adds the parts that all commands share. */
export function commandRoute<Body extends LegBody>(command: CommandRoute<Body>): Route<Body> {
  const { withoutAgentUri, otherParty, description, failures, ...route } = command
  return {
    ...route,
    method: 'post',
    tag: 'calls',
    role: 'operator',
    description: `${description}${missingAgentUriNote(withoutAgentUri)}`,
    idempotent: true,
    validatesAbsentBody: true,
    failures: [
      'invalid-request',
      missingAgentUri(withoutAgentUri),
      'agent-not-found',
      ...failures,
      'platform-unavailable',
    ],
    validate: validateCallCommand(withoutAgentUri, otherParty),
  }
}

/** An allowed command: the stored call and agent, and whether the command is sent or does nothing. */
export interface AllowedCommand {
  readonly call: Call
  readonly agent: Agent
  readonly commandId: CommandId
  readonly correlationId: string | null
  readonly verdict: Exclude<Verdict, { kind: 'refuse' }>
}

export async function requireAgent(
  platform: Platform,
  { tenant }: Caller,
  agentUri: string,
): Promise<ProvisionedAgent> {
  const agent = await platform.findAgent(tenant, agentUri)
  if (agent === undefined) throw new AppError('agent-not-found')
  return agent
}

/**
 * First step of every command on a leg: checks that the agent and the call exist for this caller, and that the state of the
 * leg allows the command. Changes nothing.
 * @throws AppError agent-not-found, call-not-found, invalid-call-state, remote-answer-unsupported, transfer-in-progress
 */
export async function allowCommand(
  { platform, center }: CallRouteDeps,
  command: CommandOnLeg,
  { caller, params, body: { agentUri }, idFor }: RouteRequest<LegBody>,
  transfer: { readonly target?: string; readonly consultationCallId?: CallId } = {},
): Promise<AllowedCommand> {
  const { remoteAnswer } = await requireAgent(platform, caller, agentUri)
  const id = params['callId']
  if (!isGuid(id)) throw new AppError('call-not-found')
  const { call, agent } = await center.readLeg(caller.tenant, parseCallId(id), agentUri)
  const leg = call?.legs[agentUri]?.status
  // A call that was just dialled has no leg yet; it belongs to the dialling agent.
  const isDialler = call?.dialled?.agentUri === agentUri && !call.isAbandoned
  if (call === undefined || (leg === undefined && !isDialler)) throw new AppError('call-not-found')
  const commandId = parseCommandId(idFor('command'))
  const verdict = checkCommand(command, leg, { commandId, remoteAnswer, ...transfer })
  if (verdict.kind === 'refuse') {
    const { code, currentState, allowedCommands } = verdict
    throw new AppError(code, { currentState, allowedCommands })
  }
  return { call, agent, commandId, correlationId: leg?.correlationId ?? call.dialled?.correlationId ?? null, verdict }
}

/**
 * The agent's other connected calls, which must be held before this one is connected.
 * @throws AppError agent-device-unavailable while the agent dials, because a dialling call cannot be held
 */
export function othersToHold(agent: Agent, callId: CallId, consultation?: CallId): readonly CallId[] {
  const others = agent.calls.filter((other) => other.callId !== callId && other.callId !== consultation)
  if (others.some(({ state }) => state === CallState.initiated || state === CallState.proceeding)) {
    throw new AppError('agent-device-unavailable', { detail: 'The agent is dialling another call.' })
  }
  return others.filter(({ state }) => state === CallState.connected).map(({ callId: other }) => other)
}

/** Sends a command. It fails only if the platform certainly did not receive it. @throws AppError platform-unavailable */
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
