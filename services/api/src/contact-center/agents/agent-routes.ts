import { DeviceStatus, type StatusNames } from '@switchhook/contracts'
import { createListCursor, type PageQuery } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { feature } from '../../http/feature.ts'
import { acts, type RouteOf, reads } from '../../http/route.ts'
import { described, pageParameters } from '../../http/schema.ts'
import { isLiveLeg, readLiveLegs, showLegs } from '../calls/call-leg.ts'
import { requireAgent } from '../calls/commands.ts'
import { type Agent, viewOf } from '../center/agent.ts'
import type { ContactCenter } from '../open-contact-center.ts'
import {
  agentPageSchema,
  agentStateSchema,
  agentUriParam,
  callStateSchema,
  type PresenceBody,
  presenceSchema,
} from './agent-schemas.ts'
import { settingOf, validatePresence } from './validate-presence.ts'

type AgentRouteDeps = ContactCenter & { readonly statusNames: StatusNames }

const DEVICE_STATUS_NAMES = new Map<number, string>(
  Object.entries(DeviceStatus).map(([name, status]) => [status, name]),
)

const cursors = createListCursor('a', /^.{1,255}$/s)

function stateOf(agent: Agent, statusNames: StatusNames) {
  const view = viewOf(agent)
  return described(agentStateSchema, {
    ...agent,
    ...view,
    statusName: statusNames[view.statusCode] ?? String(view.statusCode),
    deviceStatusName: DEVICE_STATUS_NAMES.get(view.deviceStatus) ?? 'unknown',
    occurredAt: agent.lastEventAt,
  })
}

const listAgents: RouteOf<AgentRouteDeps, undefined, PageQuery> = {
  ...reads('agents'),
  path: '/api/v1/voice/agents',
  operationId: 'listAgents',
  summary: 'List agents',
  description:
    'Lists the provisioned agents of the tenant by URI, each with its state and its live calls, as of one moment per page.',
  query: pageParameters,
  responses: { 200: { description: 'A page of agents.', body: agentPageSchema } },
  async handle({ caller: { tenant }, query: { limit, cursor } }, { platform, center, statusNames }) {
    const after = cursor === undefined ? undefined : cursors.parse(cursor)
    const provisioned = await platform.listAgents(tenant, { limit: limit + 1, ...(after !== undefined && { after }) })
    const uris = provisioned.slice(0, limit).map(({ agentUri }) => agentUri)
    const items = (await readLiveLegs(center, tenant, uris)).map(async ({ agent, legs }) => {
      return { ...stateOf(agent, statusNames), calls: await showLegs(platform, tenant, legs) }
    })
    const nextCursor = provisioned.length > limit ? cursors.of(uris.at(-1) ?? '') : null
    return { status: 200, body: { items: await Promise.all(items), nextCursor } }
  },
}

const readAgentState: RouteOf<AgentRouteDeps> = {
  ...reads('agents'),
  path: '/api/v1/voice/agents/{agentUri}/state',
  operationId: 'readAgentState',
  summary: "Read an agent's presence and status",
  params: { agentUri: agentUriParam },
  responses: { 200: { description: "The agent's state.", body: agentStateSchema } },
  failures: ['agent-not-found'],
  async handle({ caller, params }, { platform, center, statusNames }) {
    const { agentUri } = await requireAgent(platform, caller, params['agentUri'])
    return { status: 200, body: stateOf(await center.readAgent(caller.tenant, agentUri), statusNames) }
  },
}

interface CallStateDeps extends Pick<ContactCenter, 'now'> {
  readonly platform: Pick<ContactCenter['platform'], 'findAgent'>
  readonly center: Pick<ContactCenter['center'], 'readAgent' | 'readCalls'>
}

export const readCallState: RouteOf<CallStateDeps> = {
  ...reads('agents'),
  path: '/api/v1/voice/agents/{agentUri}/call-state',
  operationId: 'readCallState',
  summary: "Read the calls of an agent's device",
  description:
    'Returns the same snapshots as the `call.status` events, with the same `sequence`. Use it to recover from missed events.',
  params: { agentUri: agentUriParam },
  responses: { 200: { description: 'The call state.', body: callStateSchema } },
  failures: ['agent-not-found'],
  async handle({ caller, params }, { platform, center, now }) {
    const { agentUri, device } = await requireAgent(platform, caller, params['agentUri'])
    // Before the reads: a call that begins meanwhile is not in the answer, and must not look ended.
    const asOf = new Date(now()).toISOString()
    const agent = await center.readAgent(caller.tenant, agentUri)
    const ids = agent.calls.map(({ callId }) => callId)
    const legs = (await center.readCalls(caller.tenant, ids)).map((call) => call.legs[agentUri]?.status)
    const calls = legs.filter(isLiveLeg)
    const { deviceStatus } = viewOf(agent)
    return { status: 200, body: { agentUri, device, deviceStatus, asOf, calls } }
  },
}

const setPresence: RouteOf<AgentRouteDeps, PresenceBody> = {
  ...acts('agents'),
  path: '/api/v1/voice/agents/{agentUri}/presence',
  operationId: 'setPresence',
  audit: { action: 'agent.presence-set', ids: ['agentUri'] },
  summary: "Set an agent's status",
  description:
    'Without `until`, sets the standing status. With `until`, sets a temporary status, after which the standing status returns. During a call, the status is kept as `pendingStatusCode` and takes effect after the call and its after-call work; the latest one wins. During after-call work, it ends the after-call work and takes effect immediately.',
  idempotent: true,
  params: { agentUri: agentUriParam },
  body: presenceSchema,
  responses: { 202: { description: "Accepted. The body is the agent's current state.", body: agentStateSchema } },
  failures: ['invalid-request', 'unknown-status-code', 'agent-not-found'],
  validate: validatePresence,
  async handle({ caller, params, body }, { platform, center, statusNames }) {
    const { agentUri } = await requireAgent(platform, caller, params['agentUri'])
    const agent = await center.setPresence(caller.tenant, agentUri, settingOf(body))
    return { status: 202, body: stateOf(agent, statusNames) }
  },
}

export const agents = feature(
  [listAgents, readAgentState, readCallState, setPresence],
  ({ contactCenter, config }: Base & { readonly contactCenter: ContactCenter }) => ({
    deps: { ...contactCenter, statusNames: config.USER_STATUS_CODES },
  }),
)
