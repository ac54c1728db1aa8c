import { AppError, CallState, type CallStatus, DeviceStatus } from '@switchhook/contracts'
import type { Platform, ProvisionedAgent } from '@switchhook/platform'
import { currentSnapshot } from '../calls/call.ts'
import type { Center } from '../center/center.ts'
import type { Caller, Route } from '../http/route.ts'
import { type Agent, viewOf } from './agent.ts'
import { agentStateSchema, agentUriParam, callStateSchema, presenceSchema } from './agent-schemas.ts'
import type { StatusNames } from './status-codes.ts'
import { type PresenceBody, settingOf, validatePresence } from './validate-presence.ts'

export interface AgentRouteDeps {
  readonly platform: Pick<Platform, 'findAgent'>
  readonly center: Pick<Center, 'readAgent' | 'readCalls' | 'setPresence'>
  readonly statusNames: StatusNames
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const DEVICE_STATUS_NAMES = new Map<number, string>(
  Object.entries(DeviceStatus).map(([name, status]) => [status, name]),
)

const isLive = (leg: CallStatus | undefined): leg is CallStatus => leg !== undefined && leg.state !== CallState.ended

/** The routes of voice agents. */
export function createAgentRoutes({ platform, center, statusNames, now }: AgentRouteDeps): readonly Route[] {
  async function requireAgent({ tenant }: Caller, agentUri = ''): Promise<ProvisionedAgent> {
    const agent = await platform.findAgent(tenant, agentUri)
    if (agent === undefined) throw new AppError('agent-not-found')
    return agent
  }

  function stateOf(agent: Agent) {
    const { statusCode, standingStatusCode, pendingStatusCode, deviceStatus, ...rest } = viewOf(agent)
    return {
      agentUri: agent.agentUri,
      statusCode,
      statusName: statusNames[statusCode] ?? String(statusCode),
      standingStatusCode,
      pendingStatusCode,
      deviceStatus,
      deviceStatusName: DEVICE_STATUS_NAMES.get(deviceStatus) ?? 'unknown',
      ...rest,
      since: agent.since,
      sequence: agent.sequence,
    }
  }

  const readState: Route = {
    method: 'get',
    path: '/api/v1/voice/agents/{agentUri}/state',
    operationId: 'readAgentState',
    tag: 'agents',
    role: 'viewer',
    summary: "Read an agent's presence and status",
    params: { agentUri: agentUriParam },
    responses: { 200: { description: "The agent's state.", body: agentStateSchema } },
    failures: ['agent-not-found'],
    handle: async ({ caller, params }) => {
      const { agentUri } = await requireAgent(caller, params['agentUri'])
      return { status: 200, body: stateOf(await center.readAgent(caller.tenant, agentUri)) }
    },
  }

  const readCallState: Route = {
    method: 'get',
    path: '/api/v1/voice/agents/{agentUri}/call-state',
    operationId: 'readCallState',
    tag: 'agents',
    role: 'viewer',
    summary: "Read the calls of an agent's device",
    description:
      'Returns the same snapshots as the `call.status` events, with the same `sequence`. Use it to recover from missed events.',
    params: { agentUri: agentUriParam },
    responses: { 200: { description: 'The call state.', body: callStateSchema } },
    failures: ['agent-not-found'],
    handle: async ({ caller, params }) => {
      const { agentUri, device } = await requireAgent(caller, params['agentUri'])
      const agent = await center.readAgent(caller.tenant, agentUri)
      const calls = await center.readCalls(
        caller.tenant,
        agent.calls.map(({ callId }) => callId),
      )
      const legs = calls.map((call) => call.legs[agentUri]?.status)
      const { deviceStatus } = viewOf(agent)
      const asOf = new Date(now()).toISOString()
      return {
        status: 200,
        body: { agentUri, device, deviceStatus, asOf, calls: legs.filter(isLive).map(currentSnapshot) },
      }
    },
  }

  const setPresence: Route<PresenceBody> = {
    method: 'post',
    path: '/api/v1/voice/agents/{agentUri}/presence',
    operationId: 'setPresence',
    tag: 'agents',
    role: 'operator',
    summary: "Set an agent's status",
    description:
      'Without `until`, sets the standing status. With `until`, sets a temporary status, after which the standing status returns. During a call, the status is kept as `pendingStatusCode` and takes effect after the call and its after-call work; the latest one wins. During after-call work, it ends the after-call work and takes effect at once.',
    params: { agentUri: agentUriParam },
    body: presenceSchema,
    responses: { 202: { description: "Accepted. The body is the agent's current state.", body: agentStateSchema } },
    failures: ['invalid-request', 'unknown-status-code', 'agent-not-found'],
    validate: (body, faults) => validatePresence(statusNames, now)(body, faults),
    handle: async ({ caller, params, body }) => {
      const { agentUri } = await requireAgent(caller, params['agentUri'])
      return { status: 202, body: stateOf(await center.setPresence(caller.tenant, agentUri, settingOf(body))) }
    },
  }

  return [readState, readCallState, setPresence]
}
