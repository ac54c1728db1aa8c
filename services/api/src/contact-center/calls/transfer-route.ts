import { AppError, type CallId, parseCallId } from '@switchhook/contracts'
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
  requireDiallable,
  sendOnLeg,
} from './commands.ts'

/** Stores the consultation call with its id before the platform receives the transfer. */
async function begin(
  { platform, center, now }: CallRouteDeps,
  body: TransferBody,
  { leg, agent, correlationId }: AllowedCommand,
  consultationCallId: CallId | null,
): Promise<void> {
  const { tenant, callId, agentUri, commandId } = leg
  const command = { ...leg, target: body.transferTarget, correlationId: correlationIdOf(body), consultationCallId }
  if (consultationCallId === null) return sendOnLeg(center, leg, platform.transfer(command))

  if (othersToHold(agent, callId).length > 0) {
    throw new AppError('agent-device-unavailable', {
      detail: 'The agent is connected on another call; hold that call first.',
    })
  }
  const dialled = { agentUri, destination: command.target, cli: null, correlationId, commandId }
  const begun = newCall({ callId: consultationCallId, tenant }, new Date(now()).toISOString())
  const consultation = { ...begun, dialled }
  await center.beginConsultation(consultation)
  await sendOnLeg(center, leg, platform.transfer(command)).catch(async (error: unknown) => {
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
  otherParty: 'transferTarget',
  failures: ['call-not-found', 'invalid-call-state', 'transfer-in-progress', 'agent-device-unavailable'],
  async handle(request, deps) {
    const { body, idFor } = request
    const acceptedAt = new Date(deps.now()).toISOString()
    await requireDiallable(deps.platform, request.caller, 'transferTarget', body.transferTarget)
    const ownConsultation = body.blind === true ? null : parseCallId(idFor('consultation'))
    const allowed = await allowCommand(deps, 'transfer', request, {
      target: body.transferTarget,
      ...(ownConsultation !== null && { consultationCallId: ownConsultation }),
    })
    const { leg, check, consultation: earlier } = allowed
    const { callId, agentUri, commandId } = leg
    const correlationId = (check.kind === 'noop' ? null : correlationIdOf(body)) ?? allowed.correlationId
    if (check.kind === 'send' && check.as === 'completeTransfer') {
      const command = { ...leg, correlationId: correlationIdOf(body) }
      await sendOnLeg(deps.center, leg, deps.platform.completeTransfer(command))
    } else if (check.kind === 'send') {
      await begin(deps, body, { ...allowed, correlationId }, ownConsultation)
    }
    const consultationCallId = earlier ?? (check.kind === 'noop' ? null : ownConsultation)
    return accepted({
      callId,
      agentUri,
      command: 'transfer',
      commandId,
      correlationId,
      acceptedAt,
      noop: check.kind === 'noop',
      ...(consultationCallId !== null && { consultationCallId }),
    })
  },
})
