import { AppError, type CallId, parseCallId } from '@switchhook/contracts'
import type { Route, RouteRequest } from '../http/route.ts'
import { newCall } from './call.ts'
import { callIdParam, type TransferBody, transferAcceptedSchema, transferSchema } from './call-schemas.ts'
import { accepted, type CallRouteDeps, type Judged, judge, othersToHold, send } from './commands.ts'
import { judgeBody } from './missing-agent-uri.ts'

/** Transfers a call: blind, or attended in two steps with the same request. */
export function createTransferRoute(deps: CallRouteDeps): Route<TransferBody> {
  const { platform, center, now } = deps

  /** The consultation call is stored, with its id, before the platform is asked. */
  async function begin(
    request: RouteRequest<TransferBody>,
    { call, agent, commandId, correlationId }: Judged,
    consultationCallId: CallId | null,
  ): Promise<void> {
    const { tenant } = request.caller
    const { agentUri, transferTarget } = request.body
    const command = {
      tenant,
      callId: call.callId,
      agentUri,
      commandId,
      target: transferTarget,
      correlationId: request.body.correlationId ?? null,
      consultationCallId,
    }
    if (consultationCallId === null) return send(platform.transfer(command))

    if (othersToHold(agent, call.callId).length > 0) {
      throw new AppError('agent-device-unavailable', { detail: 'The agent talks on another call: hold it first' })
    }
    const consultation = {
      ...newCall({ callId: consultationCallId, tenant }, new Date(now()).toISOString()),
      dialled: { agentUri, destination: transferTarget, cli: null, correlationId, commandId },
    }
    await center.beginConsultation(consultation)
    await send(platform.transfer(command)).catch(async (error: unknown) => {
      // Best effort: a consultation that is not taken back now is found out later, and ends with platformLost.
      if (error instanceof AppError) await center.abandon(consultation).catch(() => {})
      throw error
    })
  }

  return {
    method: 'post',
    path: '/api/v1/voice/calls/{callId}/transfer',
    operationId: 'transfer',
    tag: 'calls',
    summary: 'Transfer a call',
    description: [
      "Blind: the call is held while the target is called; when the target answers, the agent's leg ends with reason 9 (transferred); if the target is busy, declines or does not answer, the call is connected to the agent again.",
      '',
      'Attended (default): the call is held, and a consultation call (`consultationCallId`) is made to the target. The same request again completes the transfer, and so does hanging up either call once the target rings; `resume` of the original call cancels it. If the target is busy, declines or does not answer, the original call is connected again.',
      '',
      'A request without an agentUri, or without a body, is answered 401 `missing-agent-uri`. A new access token does not help.',
    ].join('\n'),
    params: { callId: callIdParam },
    idempotent: true,
    body: transferSchema,
    validatesAbsentBody: true,
    responses: { 202: { description: 'Accepted', body: transferAcceptedSchema } },
    failures: [
      'invalid-request',
      { code: 'missing-agent-uri', status: 401 },
      'agent-not-found',
      'call-not-found',
      'invalid-call-state',
      'transfer-in-progress',
      'agent-device-unavailable',
      'platform-unavailable',
    ],
    validate: judgeBody(401, 'transferTarget'),
    handle: async (request) => {
      const { caller, body, idFor } = request
      const { agentUri, transferTarget } = body
      const acceptedAt = new Date(now()).toISOString()
      const ownConsultation = body.blind === true ? null : parseCallId(idFor('consultation'))
      const judged = await judge(deps, 'transfer', request, {
        target: transferTarget,
        ...(ownConsultation !== null && { consultationCallId: ownConsultation }),
      })
      const { call, commandId, verdict } = judged
      const underWay = call.legs[agentUri]?.status.consultation
      const earlier = underWay && 'callId' in underWay ? underWay.callId : null
      if (verdict.kind === 'send' && verdict.as === 'completeTransfer') {
        await send(platform.completeTransfer({ tenant: caller.tenant, callId: call.callId, agentUri, commandId }))
      } else if (verdict.kind === 'send') {
        const correlationId = body.correlationId ?? judged.correlationId
        await begin(request, { ...judged, correlationId }, ownConsultation)
      }
      const consultationCallId = earlier ?? (verdict.kind === 'noop' ? null : ownConsultation)
      return accepted('transfer', call.callId, agentUri, {
        commandId,
        correlationId: body.correlationId ?? judged.correlationId,
        acceptedAt,
        noop: verdict.kind === 'noop',
        ...(consultationCallId !== null && { consultationCallId }),
      })
    },
  }
}
