import { AppError, type CallId, parseCallId } from '@switchhook/contracts'
import type { RouteRequest } from '../../http/route.ts'
import { newCall } from '../center/call.ts'
import {
  callIdParam,
  correlationIdOf,
  type TransferBody,
  transferAcceptedSchema,
  transferSchema,
} from './call-schemas.ts'
import {
  type AllowedCommand,
  accepted,
  allowCommand,
  type CallRouteDeps,
  commandRoute,
  othersToHold,
  send,
} from './commands.ts'

/** Stores the consultation call with its id before the platform receives the transfer. */
async function begin(
  { platform, center, now }: CallRouteDeps,
  request: RouteRequest<TransferBody>,
  { call, agent, commandId, correlationId, known }: AllowedCommand,
  consultationCallId: CallId | null,
): Promise<void> {
  const { tenant } = request.caller
  const { agentUri, transferTarget } = request.body
  const command = {
    tenant,
    callId: call.callId,
    agentUri,
    commandId,
    known,
    target: transferTarget,
    correlationId: correlationIdOf(request.body),
    consultationCallId,
  }
  if (consultationCallId === null) return send(platform.transfer(command))

  if (othersToHold(agent, call.callId).length > 0) {
    throw new AppError('agent-device-unavailable', {
      detail: 'The agent is connected on another call; hold that call first.',
    })
  }
  const dialled = { agentUri, destination: transferTarget, cli: null, correlationId, commandId }
  const consultation = newCall({ callId: consultationCallId, tenant }, new Date(now()).toISOString(), dialled)
  await center.beginConsultation(consultation)
  await send(platform.transfer(command)).catch(async (error: unknown) => {
    // Best effort: otherwise a probe ends the consultation with platformLost.
    if (error instanceof AppError) await center.abandon(consultation).catch(() => {})
    throw error
  })
}

/** Transfers a call: blind, or attended in two steps, where the same request starts and completes the transfer. */
export const transfer = commandRoute<TransferBody>({
  path: '/api/v1/voice/calls/{callId}/transfer',
  operationId: 'transfer',
  summary: 'Transfer a call',
  description: [
    "**Blind** (`blind: true`): the call is held while the target is called. When the target answers, the agent's leg ends with reason 9 (transferred). If the target is busy, declines or does not answer, the call is connected to the agent again.",
    '',
    '**Attended** (default): the call is held, and the agent gets a consultation call to the target (`consultationCallId`). To complete the transfer, send the same request again, or hang up either call once the target rings. To cancel it, `resume` the original call. If the target is busy, declines or does not answer, the original call is connected again.',
    '',
    'A call returns on hold if the agent talks or dials in another call by then. A transfer to the other party of the call is refused: 409 `invalid-call-state`. So is a transfer of the consultation by the agent who consults: 409 `transfer-in-progress`.',
  ].join('\n'),
  params: { callId: callIdParam },
  body: transferSchema,
  responses: { 202: { description: 'Accepted.', body: transferAcceptedSchema } },
  withoutAgentUri: 401,
  otherParty: 'transferTarget',
  failures: ['call-not-found', 'invalid-call-state', 'transfer-in-progress', 'agent-device-unavailable'],
  async handle(request, deps) {
    const { caller, body, idFor } = request
    const { agentUri, transferTarget } = body
    const acceptedAt = new Date(deps.now()).toISOString()
    const ownConsultation = body.blind === true ? null : parseCallId(idFor('consultation'))
    const allowed = await allowCommand(deps, 'transfer', request, {
      target: transferTarget,
      ...(ownConsultation !== null && { consultationCallId: ownConsultation }),
    })
    const { call, commandId, check, known } = allowed
    const correlationId = (check.kind === 'noop' ? null : correlationIdOf(body)) ?? allowed.correlationId
    const underWay = call.legs[agentUri]?.status.consultation
    const earlier = underWay && 'callId' in underWay ? underWay.callId : null
    if (check.kind === 'send' && check.as === 'completeTransfer') {
      const leg = { tenant: caller.tenant, callId: call.callId, agentUri, commandId, known }
      await send(deps.platform.completeTransfer({ ...leg, correlationId: correlationIdOf(body) }))
    } else if (check.kind === 'send') {
      await begin(deps, request, { ...allowed, correlationId }, ownConsultation)
    }
    const consultationCallId = earlier ?? (check.kind === 'noop' ? null : ownConsultation)
    return accepted('transfer', call.callId, agentUri, {
      commandId,
      correlationId,
      acceptedAt,
      noop: check.kind === 'noop',
      ...(consultationCallId !== null && { consultationCallId }),
    })
  },
})
