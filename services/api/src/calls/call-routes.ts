import {
  AppError,
  type CallCommand,
  type CallId,
  CallState,
  type Fault,
  isGuid,
  parseCallId,
  parseCommandId,
} from '@switchhook/contracts'
import { type Platform, PlatformUnavailable } from '@switchhook/platform'
import type { Answer, Caller, Route } from '../http/route.ts'
import type { CallBook } from './call-book.ts'
import type { Call } from './call-model.ts'
import { acceptedSchema, callIdParam, type DialBody, dialSchema, type LegBody, legSchema } from './call-schemas.ts'

export interface CallRouteDeps {
  readonly platform: Platform
  readonly calls: CallBook
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The voice calls of the specification. A 202 says that the command was accepted; `call.status` tells what came of it. */
export function createCallRoutes(deps: CallRouteDeps): readonly Route[] {
  const dial: Route<DialBody> = {
    method: 'post',
    path: '/api/v1/voice/calls/dial',
    operationId: 'dial',
    tag: 'calls',
    summary: 'Start an outbound call',
    description: 'The call id is allocated before the contact center is asked, so it is known whatever happens next.',
    idempotent: true,
    body: dialSchema,
    responses: { 202: { description: 'Accepted: the agent is about to dial', body: acceptedSchema } },
    failures: [
      'invalid-request',
      { code: 'missing-agent-uri', status: 401 },
      'agent-not-found',
      'agent-device-unavailable',
      'platform-unavailable',
    ],
    validate: (body, faults) => missingAgentUri(body, 401) ?? invalid(faults),
    handle: async ({ caller, body, idFor }) => {
      await requireAgent(caller, body.agentUri)
      const { agentUri, destination, cli = null, correlationId = null } = body
      const callId = parseCallId(idFor('call'))
      const commandId = parseCommandId(idFor('command'))
      const { tenant } = caller
      const call = await deps.calls.begin(
        {
          callId,
          tenant,
          originator: agentUri,
          cli,
          correlationId,
          dialCommandId: commandId,
          createdAt: new Date(deps.now()).toISOString(),
          legs: {},
        },
        agentUri,
      )
      await deps.platform
        .dial({ tenant, callId, agentUri, commandId, destination, cli })
        .catch(async (error: unknown) => {
          // Best effort: a device that is not given back now is free again by itself a little later.
          if (error instanceof PlatformUnavailable) await deps.calls.abandon(call, agentUri).catch(() => {})
          throw toFailure(error)
        })
      return accepted('dial', call, agentUri, call.createdAt, { commandId })
    },
  }

  const hangup: Route<LegBody> = {
    method: 'post',
    path: '/api/v1/voice/calls/{callId}/hangup',
    operationId: 'hangup',
    tag: 'calls',
    summary: 'Hang up a call',
    description:
      "Ends the agent's leg, whatever its state. On a leg that has ended it does nothing and says so (`noop`).",
    params: { callId: callIdParam },
    idempotent: true,
    body: legSchema,
    responses: { 202: { description: 'Accepted', body: acceptedSchema } },
    failures: ['invalid-request', 'missing-agent-uri', 'agent-not-found', 'call-not-found', 'platform-unavailable'],
    validate: (body, faults) => missingAgentUri(body, 400) ?? invalid(faults),
    handle: async ({ caller, params, body: { agentUri }, idFor }) => {
      await requireAgent(caller, agentUri)
      const call = await requireCall(caller, params['callId'], agentUri)
      const acceptedAt = new Date(deps.now()).toISOString()
      const commandId = parseCommandId(idFor('command'))
      const leg = call.legs[agentUri]
      // What this very command has ended, before a crash, is no reason to say that there was nothing to do.
      const noop = leg?.state === CallState.ended && leg.commandId !== commandId
      if (!noop) {
        const command = { tenant: caller.tenant, callId: call.callId, agentUri, commandId }
        await deps.platform.hangup(command).catch((error: unknown) => {
          throw toFailure(error)
        })
      }
      return accepted('hangup', call, agentUri, acceptedAt, { commandId, noop })
    },
  }

  async function requireAgent({ tenant }: Caller, agentUri: string): Promise<void> {
    if ((await deps.platform.findAgent(tenant, agentUri)) === undefined) throw new AppError('agent-not-found')
  }

  /** A call that was dialled a moment ago is the dialler's, though its leg is not known yet. */
  async function requireCall({ tenant }: Caller, callId: string | undefined, agentUri: string): Promise<Call> {
    const call = isGuid(callId) ? await deps.calls.find(tenant, parseCallId(callId)) : undefined
    if (call === undefined || (call.legs[agentUri] === undefined && call.originator !== agentUri)) {
      throw new AppError('call-not-found')
    }
    return call
  }

  return [dial, hangup]
}

/** The specification answers 401 to a dial without an agent, whatever else is wrong with it. */
function missingAgentUri(body: unknown, status: 400 | 401): AppError | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const agentUri = 'agentUri' in body ? body.agentUri : undefined
  if (agentUri !== undefined && agentUri !== null && agentUri !== '') return undefined
  return new AppError('missing-agent-uri', { status, errors: [{ pointer: '/agentUri', detail: 'is required' }] })
}

/** Only a command that was certainly not sent is answered `platform-unavailable`. */
const toFailure = (error: unknown): unknown =>
  error instanceof PlatformUnavailable ? new AppError('platform-unavailable', {}, { cause: error }) : error

const invalid = (faults: readonly Fault[]): AppError | undefined =>
  faults.length === 0 ? undefined : new AppError('invalid-request', { errors: faults })

function accepted(
  command: CallCommand,
  { callId, correlationId }: { callId: CallId; correlationId: string | null },
  agentUri: string,
  acceptedAt: string,
  rest: { commandId: string; noop?: boolean },
): Answer {
  return { status: 202, body: { callId, agentUri, command, correlationId, acceptedAt, noop: false, ...rest } }
}
