import { AppError, parseCallId, parseCommandId } from '@switchhook/contracts'
import type { Route } from '../http/route.ts'
import { type Call, type Dialled, hasBegun, newCall } from './call.ts'
import { acceptedSchema, type DialBody, dialSchema } from './call-schemas.ts'
import { accepted, type CallRouteDeps, requireAgent, send } from './commands.ts'
import { judgeBody } from './missing-agent-uri.ts'

/** Starts an outbound call. The call is stored, with its id, before the platform is asked. */
export function createDialRoute({ platform, center, now }: CallRouteDeps): Route<DialBody> {
  /** Sent again if an earlier try may not have got there: dialling the same callId twice makes one call. */
  async function sendDial({ tenant, callId }: Call, dialled: Dialled): Promise<void> {
    await send(platform.dial({ tenant, callId, ...dialled }))
  }

  return {
    method: 'post',
    path: '/api/v1/voice/calls/dial',
    operationId: 'dial',
    tag: 'calls',
    summary: 'Start an outbound call',
    description:
      'The call id is allocated before the command goes to the contact center. The agent may have other calls, if they are on hold. ' +
      'A request without an agentUri, or without a body, is answered 401 `missing-agent-uri`. A new access token does not help.',
    idempotent: true,
    body: dialSchema,
    validatesAbsentBody: true,
    responses: { 202: { description: 'Accepted: the agent is about to dial', body: acceptedSchema } },
    failures: [
      'invalid-request',
      { code: 'missing-agent-uri', status: 401 },
      'agent-not-found',
      'agent-device-unavailable',
      'platform-unavailable',
    ],
    validate: judgeBody(401, 'destination'),
    handle: async ({ caller: { tenant, clientId }, caller, body, idFor, isKeyed }) => {
      const { agentUri, destination, cli = null, correlationId = null } = body
      await requireAgent(platform, caller, agentUri)
      const commandId = parseCommandId(idFor('command'))
      const dialled: Dialled = { agentUri, destination, cli, correlationId, commandId }
      const fresh: Call = {
        ...newCall({ callId: parseCallId(idFor('call')), tenant }, new Date(now()).toISOString()),
        dialled,
      }
      const likeness = correlationId === null ? null : { clientId, agentUri, destination, correlationId }
      const { call, again } = await center.beginDial(fresh, { agentUri, likeness, isKeyed })
      const original = call.dialled ?? dialled
      if (!hasBegun(call)) {
        await sendDial(call, original).catch(async (error: unknown) => {
          // Best effort: a device that is not given back now is free again by itself a little later.
          if (error instanceof AppError) await center.abandon(call).catch(() => {})
          throw error
        })
      }
      const answer = accepted('dial', call.callId, agentUri, {
        commandId: original.commandId,
        correlationId: original.correlationId,
        acceptedAt: call.createdAt,
        noop: again,
      })
      return again ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer
    },
  }
}
