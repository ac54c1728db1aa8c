import { AppError, isGuid, parseCallId } from '@switchhook/contracts'
import type { ProvisionedAgent } from '@switchhook/platform'
import type { Simulator } from '@switchhook/platform-simulator'
import { feature } from '../../http/feature.ts'
import { acts, type Caller, type RouteOf } from '../../http/route.ts'
import { choice, completeComponent, component, flag, text, type ValueOf } from '../../http/schema.ts'
import { agentUriParam } from '../agents/agent-schemas.ts'
import { address, callIdParam } from '../calls/call-schemas.ts'
import { send } from '../calls/commands.ts'
import type { ContactCenter } from '../open-contact-center.ts'

const agentUriSchema = { ...agentUriParam, description: 'User URI of the agent.' }

const tenantSchema = text(
  'Tenant of the agent, if several tenants have an agent with this URI. Ignored with a token.',
  'acme',
)

const fromSchema = address("The caller's number or URI.", '+15559000')

const seconds = (description: string, example: number) =>
  ({ type: 'number', minimum: 0.1, maximum: 3_600, description, examples: [example] }) as const

const ringSchema = component('SimulatedCall', {
  type: 'object',
  required: ['agentUri', 'from'],
  properties: {
    agentUri: agentUriSchema,
    from: fromSchema,
    tenant: tenantSchema,
    ringForSeconds: seconds('How long the caller waits for an answer, in seconds; 30 if absent.', 20),
    talkForSeconds: seconds('How long the caller talks, in seconds; 600 if absent.', 60),
  },
})

const rungSchema = completeComponent('SimulatedCallRinging', 'The call rings at the agent.', {
  callId: { ...callIdParam, description: 'The new call.' },
  agentUri: agentUriSchema,
  from: fromSchema,
})

const remoteSchema = component('RemoteAction', {
  type: 'object',
  required: ['action'],
  properties: {
    action: choice(['answer', 'hangup', 'hold', 'resume'], 'What the outside party does.', 'hangup'),
  },
})

const deviceSchema = component('SimulatedDevice', {
  type: 'object',
  required: ['online'],
  properties: {
    online: flag('true: online; false: offline.', false),
    tenant: tenantSchema,
  },
})

interface SimulatorRouteDeps {
  readonly simulator: Simulator
}

const DEVELOPMENT_ONLY =
  'For development: needs no token, and does not exist with NODE_ENV=production. With a token, only agents and calls of its tenant exist.'

/** Anybody may act without a token. A person, or an application, that has one acts in its own tenant. */
const access = { ...acts('simulator'), isPublic: true } as const

const tenantOf = ({ role, tenant }: Caller, asked?: string): string | undefined =>
  role === null ? asked : (tenant ?? undefined)

function requireAgent(simulator: Simulator, agentUri = '', tenant?: string): ProvisionedAgent {
  const agent = simulator.findAnyAgent(agentUri, tenant)
  if (agent === undefined) throw new AppError('agent-not-found')
  return agent
}

const simulateCall: RouteOf<SimulatorRouteDeps, ValueOf<typeof ringSchema>> = {
  ...access,
  path: '/simulator/v1/calls',
  operationId: 'simulateCall',
  summary: 'Ring an agent from outside',
  description: DEVELOPMENT_ONLY,
  body: ringSchema,
  responses: { 202: { description: 'The call rings at the agent.', body: rungSchema } },
  failures: ['invalid-request', 'agent-not-found', 'agent-device-unavailable', 'service-unavailable'],
  async handle({ caller, body: { agentUri, from, tenant, ringForSeconds, talkForSeconds } }, { simulator }) {
    const agent = requireAgent(simulator, agentUri, tenantOf(caller, tenant))
    const callId = await simulator.ring(agent, {
      from,
      ringForMs: ringForSeconds === undefined ? null : ringForSeconds * 1_000,
      talkForMs: talkForSeconds === undefined ? null : talkForSeconds * 1_000,
    })
    if (callId === undefined) throw new AppError('agent-device-unavailable')
    return { status: 202, body: { callId, agentUri, from } }
  },
}

const simulateRemote: RouteOf<SimulatorRouteDeps, ValueOf<typeof remoteSchema>> = {
  ...access,
  path: '/simulator/v1/calls/{callId}/remote',
  operationId: 'simulateRemote',
  summary: 'Act as the outside party',
  description: `An action that does not fit the state of the call has no effect. ${DEVELOPMENT_ONLY}`,
  params: { callId: callIdParam },
  body: remoteSchema,
  responses: { 202: { description: 'Done.' } },
  failures: ['invalid-request', 'call-not-found', 'platform-unavailable', 'service-unavailable'],
  async handle({ caller, params: { callId }, body: { action } }, { simulator }) {
    const isKnown = isGuid(callId) && (await send(simulator.remote(parseCallId(callId), action, tenantOf(caller))))
    if (!isKnown) throw new AppError('call-not-found')
    return { status: 202 }
  },
}

const simulateDevice: RouteOf<SimulatorRouteDeps, ValueOf<typeof deviceSchema>> = {
  ...access,
  path: '/simulator/v1/agents/{agentUri}/device',
  operationId: 'simulateDevice',
  summary: "Take an agent's device offline or online",
  description: `The calls of a device that goes offline end with reason 10. ${DEVELOPMENT_ONLY}`,
  params: { agentUri: agentUriParam },
  body: deviceSchema,
  responses: { 202: { description: 'Done.' } },
  failures: ['invalid-request', 'agent-not-found', 'platform-unavailable', 'service-unavailable'],
  async handle({ caller, params: { agentUri }, body: { online, tenant } }, { simulator }) {
    await send(simulator.setDevice(requireAgent(simulator, agentUri, tenantOf(caller, tenant)), online))
    return { status: 202 }
  },
}

/** Acts on the simulated contact center from outside, as callers and devices do. */
export const simulator = feature(
  [simulateCall, simulateRemote, simulateDevice],
  ({ contactCenter }: { readonly contactCenter: Pick<ContactCenter, 'simulator'> }) => ({
    deps: contactCenter.simulator && { simulator: contactCenter.simulator },
  }),
)
