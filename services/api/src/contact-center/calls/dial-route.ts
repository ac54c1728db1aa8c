import { AppError, parseCallId, parseCommandId } from '@switchhook/contracts'
import { type Dialled, hasBegun, newCall } from '../center/call.ts'
import { acceptedSchema, correlationIdOf, type DialBody, dialSchema } from './call-schemas.ts'
import { accepted, commandRoute, requireAgent, requireDiallable, send } from './commands.ts'

/** Starts an outbound call. Stores the call with its id before the platform receives the command. */
export const dial = commandRoute<DialBody>({
  path: '/api/v1/voice/calls/dial',
  operationId: 'dial',
  summary: 'Start an outbound call',
  description:
    'Dials the destination from the device of the agent. The agent may have other calls if all of them are on hold. The ' +
    '`callId` of the answer appears in every `call.status` event of the call.',
  body: dialSchema,
  responses: { 202: { description: 'Accepted: the agent is about to dial.', body: acceptedSchema } },
  otherParty: 'destination',
  failures: ['agent-device-unavailable'],
  async handle({ caller: { tenant, clientId }, caller, body, idFor, isKeyed }, { platform, center, now }) {
    const { destination, cli = null } = body
    const correlationId = correlationIdOf(body)
    await requireDiallable(platform, caller, 'destination', destination)
    const { agentUri } = await requireAgent(platform, caller, body.agentUri)
    const commandId = parseCommandId(idFor('command'))
    const dialled: Dialled = { agentUri, destination, cli, correlationId, commandId }
    const fresh = newCall({ callId: parseCallId(idFor('call')), tenant }, new Date(now()).toISOString())
    const { call, again } = await center.beginDial({ ...fresh, dialled }, { clientId, isKeyed })
    const original = call.dialled ?? dialled
    const isSent = !hasBegun(call)
    if (isSent) {
      // Dialling the same callId twice makes one call, so a dial that may not have reached the platform is repeated.
      await send(platform.dial({ tenant, callId: call.callId, ...original })).catch(async (error: unknown) => {
        // Best effort: otherwise the reservation of the device expires.
        if (error instanceof AppError) await center.abandon(call).catch(() => {})
        throw error
      })
    }
    const answer = accepted({
      callId: call.callId,
      agentUri,
      command: 'dial',
      commandId: original.commandId,
      correlationId: original.correlationId,
      acceptedAt: call.createdAt,
      noop: again && !isSent,
    })
    return again ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer
  },
})
