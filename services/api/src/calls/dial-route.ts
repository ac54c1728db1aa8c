import { AppError, parseCallId, parseCommandId } from '@switchhook/contracts'
import type { Route } from '../http/route.ts'
import { type Call, type Dialled, hasBegun, newCall } from './call.ts'
import { acceptedSchema, type DialBody, dialSchema } from './call-schemas.ts'
import { accepted, type CallRouteDeps, commandRoute, requireAgent, send } from './commands.ts'

/** Starts an outbound call. Stores the call with its id before the platform receives the command. */
export function createDialRoute({ platform, center, now }: CallRouteDeps): Route<DialBody> {
  /** Also repeats a dial that may not have reached the platform: dialling the same callId twice makes one call. */
  async function sendDial({ tenant, callId }: Call, dialled: Dialled): Promise<void> {
    await send(platform.dial({ tenant, callId, ...dialled }))
  }

  return commandRoute<DialBody>({
    path: '/api/v1/voice/calls/dial',
    operationId: 'dial',
    summary: 'Start an outbound call',
    description:
      'Dials the destination from the device of the agent. The agent may have other calls if all of them are on hold. The ' +
      '`callId` of the answer appears in every `call.status` event of the call.',
    body: dialSchema,
    responses: { 202: { description: 'Accepted: the agent is about to dial.', body: acceptedSchema } },
    withoutAgentUri: 401,
    otherParty: 'destination',
    failures: ['agent-device-unavailable'],
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
          // Best effort: otherwise the reservation of the device expires.
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
  })
}
