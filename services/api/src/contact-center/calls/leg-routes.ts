import type { FailureCode } from '@switchhook/contracts'
import type { CommandOnLeg, Platform } from '@switchhook/platform'
import { acceptedSchema, callIdParam, type LegBody, legSchema } from './call-schemas.ts'
import { type AllowedCommand, accepted, allowCommand, commandRoute, othersToHold, sendOnLeg } from './commands.ts'

interface LegRoute {
  readonly command: Exclude<CommandOnLeg, 'transfer'>
  readonly summary: string
  readonly description: string
  readonly failures?: readonly FailureCode[]
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

export const legRoutes = ROUTES.map(({ command, summary, description, failures = [] }) =>
  commandRoute<LegBody>({
    path: `/api/v1/voice/calls/{callId}/${command}`,
    operationId: command,
    summary,
    description,
    params: { callId: callIdParam },
    body: legSchema,
    responses: { 202: { description: 'Accepted.', body: acceptedSchema } },
    failures: ['call-not-found', ...failures],
    handle: async (request, deps) => {
      const acceptedAt = new Date(deps.now()).toISOString()
      const allowed = await allowCommand(deps, command, request)
      const { leg, correlationId, check } = allowed
      const { callId, agentUri, commandId } = leg
      if (check.kind === 'send') await sendOnLeg(deps.center, leg, carryOut(deps.platform, command, allowed))
      const noop = check.kind === 'noop'
      return accepted({ callId, agentUri, command, commandId, correlationId, acceptedAt, noop })
    },
  }),
)

function carryOut(
  platform: Platform,
  command: LegRoute['command'],
  { leg, agent, consultation }: AllowedCommand,
): Promise<boolean> {
  if (command === 'hangup') return platform.hangup(leg)
  if (command === 'hold') return platform.hold(leg)
  const holdFirst = othersToHold(agent, leg.callId, consultation)
  const { known, ...onLeg } = leg
  // The holds change the agent.
  return platform[command]({ ...onLeg, holdFirst, ...(holdFirst.length === 0 && { known }) })
}
