import type { FailureCode } from '@switchhook/contracts'
import type { CommandOnLeg } from '@switchhook/platform'
import type { Route } from '../http/route.ts'
import { acceptedSchema, callIdParam, type LegBody, legSchema } from './call-schemas.ts'
import { accepted, type CallRouteDeps, type Judged, judge, othersToHold, send } from './commands.ts'
import { judgeBody } from './missing-agent-uri.ts'

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
      "Possible while the call rings at the agent's device. A call on which the agent talks is put on hold first. On a call that is connected it does nothing and says so (`noop`).",
    failures: ['invalid-call-state', 'agent-device-unavailable'],
  },
  {
    command: 'hangup',
    summary: 'Hang up a call',
    description:
      "Ends the agent's leg, whatever its state; in an attended transfer whose target rings or has answered, it completes the transfer. On a leg that has ended it does nothing and says so (`noop`).",
    failures: [],
  },
  {
    command: 'hold',
    summary: 'Hold the active call',
    description: 'On a call that is held it does nothing and says so (`noop`).',
    failures: ['invalid-call-state'],
  },
  {
    command: 'resume',
    summary: 'Resume a held call',
    description:
      'A call on which the agent talks is put on hold first. While the call is being transferred, the transfer is cancelled. On a call that is connected it does nothing and says so (`noop`).',
    failures: ['invalid-call-state', 'agent-device-unavailable'],
  },
]

/** The commands that name nothing but a leg. */
export function createLegRoutes(deps: CallRouteDeps): readonly Route[] {
  const { platform, now } = deps

  function carryOut(command: LegRoute['command'], { call, agent, commandId }: Judged, agentUri: string): Promise<void> {
    const leg = { tenant: call.tenant, callId: call.callId, agentUri, commandId }
    if (command === 'hangup') return platform.hangup(leg)
    if (command === 'hold') return platform.hold(leg)
    const consultation = call.legs[agentUri]?.status.consultation
    const own = consultation && 'callId' in consultation ? consultation.callId : undefined
    const holdFirst = othersToHold(agent, call.callId, own)
    return platform[command]({ ...leg, holdFirst })
  }

  return ROUTES.map(
    ({ command, summary, description, failures }): Route<LegBody> => ({
      method: 'post',
      path: `/api/v1/voice/calls/{callId}/${command}`,
      operationId: command,
      tag: 'calls',
      summary,
      description,
      params: { callId: callIdParam },
      idempotent: true,
      body: legSchema,
      validatesAbsentBody: true,
      responses: { 202: { description: 'Accepted', body: acceptedSchema } },
      failures: [
        'invalid-request',
        'missing-agent-uri',
        'agent-not-found',
        'call-not-found',
        ...failures,
        'platform-unavailable',
      ],
      validate: judgeBody(400),
      handle: async (request) => {
        const acceptedAt = new Date(now()).toISOString()
        const judged = await judge(deps, command, request)
        const { agentUri } = request.body
        if (judged.verdict.kind === 'send') await send(carryOut(command, judged, agentUri))
        const { commandId, correlationId, verdict } = judged
        const noop = verdict.kind === 'noop'
        return accepted(command, judged.call.callId, agentUri, { commandId, correlationId, acceptedAt, noop })
      },
    }),
  )
}
