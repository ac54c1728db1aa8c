import { CALL_COMMANDS } from '@switchhook/contracts'
import { component } from '../http/component.ts'

export interface LegBody {
  readonly agentUri: string
}

export interface DialBody extends LegBody {
  readonly destination: string
  readonly cli?: string | null
  readonly correlationId?: string | null
}

/** What ends up in signalling must not carry line breaks or other control characters. */
const PRINTABLE = '^[^\\u0000-\\u001f\\u007f]*$'

const agentUri = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: PRINTABLE,
  description: 'The agent who initiates or owns the call, by user URI.',
  examples: ['sip:alice@acme.example'],
}

export const dialSchema = component('DialCommand', {
  type: 'object',
  required: ['agentUri', 'destination'],
  properties: {
    agentUri,
    destination: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      pattern: PRINTABLE,
      description: 'Number or URI to dial.',
      examples: ['+15550100'],
    },
    cli: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 64,
      pattern: PRINTABLE,
      description: 'Outbound presentation number: what the called party sees. Absent or null: the platform chooses.',
      examples: ['+15550199'],
    },
    correlationId: {
      type: ['string', 'null'],
      maxLength: 128,
      pattern: PRINTABLE,
      description: 'Your own id for tracing: it comes back in every event of the call.',
      examples: ['crm-4711'],
    },
  },
})

export const legSchema = component('LegCommand', {
  type: 'object',
  required: ['agentUri'],
  properties: { agentUri },
})

export const callIdParam = {
  type: 'string',
  format: 'uuid',
  description: 'The call, as `dial` or a `call.status` event named it.',
}

export const acceptedSchema = component('CommandAccepted', {
  type: 'object',
  required: ['callId', 'agentUri', 'command', 'commandId', 'correlationId', 'acceptedAt', 'noop'],
  properties: {
    callId: { type: 'string', format: 'uuid', description: 'The call that the command acts on.' },
    agentUri,
    command: { type: 'string', enum: CALL_COMMANDS, description: 'Which command was accepted.' },
    commandId: {
      type: 'string',
      format: 'uuid',
      description: 'Comes back in the events that the command brings about.',
    },
    correlationId: { type: ['string', 'null'], description: 'As it was given to `dial`.' },
    acceptedAt: { type: 'string', format: 'date-time', description: 'When the command was accepted.' },
    noop: {
      type: 'boolean',
      description: 'true: the call was already where the command wanted it, so nothing happens and no event follows.',
    },
  },
})
