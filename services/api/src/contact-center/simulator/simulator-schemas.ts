import { choice, completeComponent, component, flag, text } from '../../http/schema.ts'
import { agentUriParam } from '../agents/agent-schemas.ts'
import { address, callIdParam } from '../calls/call-schemas.ts'

const agentUri = { ...agentUriParam, description: 'User URI of the agent.' }

const tenant = text(
  'Tenant of the agent, if several tenants have an agent with this URI. Ignored with a token.',
  'acme',
)

const from = address("The caller's number or URI.", '+15559000')

const seconds = (description: string, example: number) =>
  ({ type: 'number', minimum: 0.1, maximum: 3_600, description, examples: [example] }) as const

const callId = { ...callIdParam, description: 'The new call.' }

export const ringSchema = component('SimulatedCall', {
  type: 'object',
  required: ['agentUri', 'from'],
  properties: {
    agentUri,
    from,
    tenant,
    ringForSeconds: seconds('How long the caller waits for an answer, in seconds; 30 if absent.', 20),
    talkForSeconds: seconds('How long the caller talks, in seconds; 600 if absent.', 60),
  },
})

export const rungSchema = completeComponent('SimulatedCallRinging', 'The call rings at the agent.', {
  callId,
  agentUri,
  from,
})

export const remoteSchema = component('RemoteAction', {
  type: 'object',
  required: ['action'],
  properties: {
    action: choice(['answer', 'hangup', 'hold', 'resume'], 'What the outside party does.', 'hangup'),
  },
})

export const deviceSchema = component('SimulatedDevice', {
  type: 'object',
  required: ['online'],
  properties: {
    online: flag('true: online; false: offline.', false),
    tenant,
  },
})
