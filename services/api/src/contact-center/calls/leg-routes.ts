import { AppError, type FailureCode } from '@switchhook/contracts'
import type { CommandOnLeg } from '@switchhook/platform'
import type { Answer, RouteRequest } from '../../http/route.ts'
import { RecalledRecords, RecordsOutdated } from '../../state/recent-records.ts'
import type { Center } from '../center/center.ts'
import { acceptedSchema, callIdParam, type LegBody, legSchema } from './call-schemas.ts'
import {
  type AllowedCommand,
  accepted,
  allowCommand,
  type CallRouteDeps,
  commandRoute,
  othersToHold,
  send,
} from './commands.ts'

interface LegRoute {
  readonly command: Exclude<CommandOnLeg, 'transfer'>
  readonly summary: string
  readonly description: string
  readonly failures: readonly FailureCode[]
}

const ROUTES: readonly LegRoute[] = [
  {
    command: 'answer',
    summary: 'Answer a call',
    description:
      "Possible while the call rings at the agent's device. Another connected call of the agent is put on hold first. On a connected call the command does nothing, and the answer has `noop: true`. Some devices cannot be answered by a command: 409 `remote-answer-unsupported`, and the agent answers at the device.",
    failures: ['invalid-call-state', 'remote-answer-unsupported', 'agent-device-unavailable'],
  },
  {
    command: 'hangup',
    summary: 'Hang up a call',
    description:
      "Ends the agent's leg in any state. In an attended transfer whose target rings or has answered, it completes the transfer. On an ended leg the command does nothing, and the answer has `noop: true`.",
    failures: [],
  },
  {
    command: 'hold',
    summary: 'Hold the active call',
    description: 'On a held call the command does nothing, and the answer has `noop: true`.',
    failures: ['invalid-call-state'],
  },
  {
    command: 'resume',
    summary: 'Resume a held call',
    description:
      'Another connected call of the agent is put on hold first. During a transfer of the call, the transfer is cancelled. On a connected call the command does nothing, and the answer has `noop: true`.',
    failures: ['invalid-call-state', 'agent-device-unavailable'],
  },
]

/** The commands without parameters of their own. */
export const legRoutes = ROUTES.map(({ command, summary, description, failures }) =>
  commandRoute<LegBody>({
    path: `/api/v1/voice/calls/{callId}/${command}`,
    operationId: command,
    summary,
    description,
    params: { callId: callIdParam },
    body: legSchema,
    responses: { 202: { description: 'Accepted.', body: acceptedSchema } },
    withoutAgentUri: 400,
    failures: ['call-not-found', ...failures],
    handle: async (request, deps) =>
      (await handleRecalled(command, request, deps)) ?? (await handleLeg(command, request, deps)),
  }),
)

type LegRequest = RouteRequest<LegBody>

async function handleLeg(
  command: LegRoute['command'],
  request: LegRequest,
  { platform, center, now }: Omit<CallRouteDeps, 'center'> & { readonly center: Pick<Center, 'readLeg'> },
): Promise<Answer> {
  const acceptedAt = new Date(now()).toISOString()
  const allowed = await allowCommand({ platform, center }, command, request)
  const { agentUri } = request.body
  if (allowed.check.kind === 'send') await send(carryOut(platform, command, allowed, agentUri))
  const { commandId, correlationId, check } = allowed
  const noop = check.kind === 'noop'
  return accepted(command, allowed.call.callId, agentUri, { commandId, correlationId, acceptedAt, noop })
}

/**
 * Handles the command on what this process remembers of the leg, so that nothing is read. Undefined: it was not carried out,
 * because the leg is not known or may have changed. A refusal counts only if it is based on what Redis holds.
 */
async function handleRecalled(
  command: LegRoute['command'],
  request: LegRequest,
  deps: CallRouteDeps,
): Promise<Answer | undefined> {
  const { caller, params, body } = request
  const leg = deps.center.recallLeg(caller.tenant, params['callId'] ?? '', body.agentUri)
  if (leg === undefined) return undefined
  try {
    const answer = await handleLeg(command, request, { ...deps, center: { readLeg: async () => leg } })
    return leg.known.areProven ? answer : undefined
  } catch (error) {
    if (error instanceof AppError || error instanceof RecordsOutdated) return undefined
    throw error
  }
}

function carryOut(
  platform: CallRouteDeps['platform'],
  command: LegRoute['command'],
  { call, agent, commandId, known }: AllowedCommand,
  agentUri: string,
): Promise<void> {
  const leg = { tenant: call.tenant, callId: call.callId, agentUri, commandId }
  if (command === 'hangup') return platform.hangup({ ...leg, known })
  if (command === 'hold') return platform.hold({ ...leg, known })
  const consultation = call.legs[agentUri]?.status.consultation
  const own = consultation && 'callId' in consultation ? consultation.callId : undefined
  const holdFirst = othersToHold(agent, call.callId, own)
  if (holdFirst.length > 0 && known instanceof RecalledRecords) throw new RecordsOutdated()
  // The holds change the agent.
  return platform[command]({ ...leg, holdFirst, ...(holdFirst.length === 0 && { known }) })
}
