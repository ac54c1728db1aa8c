import {
  AppError,
  type CallCommand,
  type CallId,
  CallState,
  isGuid,
  parseCallId,
  parseCommandId,
} from '@switchhook/contracts'
import {
  type CommandOnLeg,
  checkCommand,
  isDiallable,
  type LegCommand,
  type Platform,
  PlatformUnavailable,
  type ProvisionedAgent,
} from '@switchhook/platform'
import type { AuditAction } from '../../http/audit-action.ts'
import { type Answer, acts, type Caller, type RouteOf, type RouteRequest, type RouteSpec } from '../../http/route.ts'
import type { Agent } from '../center/agent.ts'
import type { ContactCenter } from '../open-contact-center.ts'
import type { AcceptedBody, LegBody } from './call-schemas.ts'
import { missingAgentUriNote, type OtherParty, statusWithoutAgent, validateCallCommand } from './missing-agent-uri.ts'

export type CallRouteDeps = Pick<ContactCenter, 'platform' | 'center' | 'now'>

interface CommandRoute<Body>
  extends Pick<RouteOf<CallRouteDeps, Body>, 'path' | 'summary' | 'params' | 'responses' | 'failures' | 'handle'>,
    Required<Pick<RouteSpec, 'body' | 'description'>> {
  readonly operationId: CallCommand
  readonly otherParty?: OtherParty
}

const AUDIT_ACTION_OF: Readonly<Record<CallCommand, AuditAction>> = {
  dial: 'call.dialled',
  answer: 'call.answered',
  hangup: 'call.hung-up',
  hold: 'call.held',
  resume: 'call.resumed',
  transfer: 'call.transferred',
}

/** The route of a call command: adds the parts that all commands share. */
export function commandRoute<Body extends LegBody>(command: CommandRoute<Body>): RouteOf<CallRouteDeps, Body> {
  const { otherParty, description, failures = [], ...route } = command
  return {
    ...route,
    ...acts('calls'),
    description: `${description}${missingAgentUriNote(otherParty)}`,
    idempotent: true,
    audit: {
      action: AUDIT_ACTION_OF[route.operationId],
      ids: ['callId', 'agentUri', 'commandId', 'consultationCallId'],
    },
    validatesAbsentBody: true,
    failures: [
      'invalid-request',
      { code: 'missing-agent-uri', status: statusWithoutAgent(otherParty) },
      'agent-not-found',
      ...failures,
      'platform-unavailable',
    ],
    validate: validateCallCommand(otherParty),
  }
}

/** An allowed command: its leg, the stored agent, and whether the command is sent or does nothing. */
export type AllowedCommand = Awaited<ReturnType<typeof allowCommand>>

export async function requireAgent(
  platform: Pick<Platform, 'findAgent'>,
  { tenant }: Caller,
  agentUri = '',
): Promise<ProvisionedAgent> {
  const agent = await platform.findAgent(tenant, agentUri)
  if (agent === undefined) throw new AppError('agent-not-found')
  return agent
}

const NOT_DIALLABLE =
  'must be the URI of an agent, a number such as +15550100 or +49 (0) 30 1234, or a SIP URI such as sip:bob@acme.example'

/** @throws AppError invalid-request if no platform can call this address, which must not look like an accepted call */
export async function requireDiallable(
  platform: Pick<Platform, 'findAgent'>,
  { tenant }: Caller,
  name: OtherParty,
  address: string,
): Promise<void> {
  if (isDiallable(address) || (await platform.findAgent(tenant, address)) !== undefined) return
  throw new AppError('invalid-request', {
    detail: 'The body is not valid.',
    errors: [{ pointer: `/${name}`, detail: NOT_DIALLABLE }],
  })
}

/**
 * First step of every command on a leg: checks that the agent and the call exist for this caller, and that the state of the
 * leg allows the command. Changes nothing.
 * @throws AppError agent-not-found, call-not-found, invalid-call-state, remote-answer-unsupported, transfer-in-progress
 */
export async function allowCommand(
  { platform, center }: CallRouteDeps,
  command: CommandOnLeg,
  { caller, params, body, idFor }: RouteRequest<LegBody>,
  transfer: { readonly target?: string; readonly consultationCallId?: CallId } = {},
) {
  const { remoteAnswer, agentUri } = await requireAgent(platform, caller, body.agentUri)
  const id = params['callId']
  if (!isGuid(id)) throw new AppError('call-not-found')
  const { call, agent, known } = await center.readLeg(caller.tenant, parseCallId(id), agentUri)
  const status = call?.legs[agentUri]?.status
  // A call that was just dialled has no leg yet; it belongs to the dialling agent.
  const isDialler = call?.dialled?.agentUri === agentUri && !call.isAbandoned
  if (call === undefined || (status === undefined && !isDialler)) throw new AppError('call-not-found')
  const commandId = parseCommandId(idFor('command'))
  const check = checkCommand(command, status, { commandId, remoteAnswer, ...transfer })
  if (check.kind === 'refuse') {
    const { kind: _kind, code, ...extra } = check
    throw new AppError(code, extra)
  }
  const correlationId = status?.correlationId ?? call.dialled?.correlationId ?? null
  const consultation = status?.consultation
  return {
    /** `known` is for the platform's command, unless another command on this call or agent comes first. */
    leg: { tenant: caller.tenant, callId: call.callId, agentUri, commandId, known },
    agent,
    /** The consultation of a transfer of this call. */
    consultation: consultation && 'callId' in consultation ? consultation.callId : undefined,
    correlationId,
    check,
  }
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

/**
 * Sends a command. Any other rejection than `platform-unavailable` leaves open whether the platform received it.
 * @throws AppError platform-unavailable if it certainly did not
 */
export async function send<T>(command: Promise<T>): Promise<T> {
  try {
    return await command
  } catch (error) {
    throw error instanceof PlatformUnavailable ? new AppError('platform-unavailable', {}, { cause: error }) : error
  }
}

export const accepted = (body: AcceptedBody): Answer => ({
  status: 202,
  body,
  ...(body.noop && { isUnchanged: true }),
})

/**
 * Sends a command on a leg. If the platform has forgotten the call, its legs end now, with this command as the cause, and
 * not only when the call has been silent for minutes: until then the agent could not be freed.
 * @throws as `send`
 */
export async function sendOnLeg(
  center: Pick<ContactCenter['center'], 'probe'>,
  { tenant, callId, commandId }: LegCommand,
  command: Promise<boolean>,
): Promise<void> {
  const isKnown = await send(command)
  if (!isKnown) await send(center.probe(tenant, callId, commandId))
}
