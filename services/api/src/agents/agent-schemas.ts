import { callStatusSchema, DeviceStatus, numberedSchema, statusCodeSchema } from '@switchhook/contracts'
import { component } from '../http/component.ts'

/** One line of text that people read. */
const PRINTABLE = '^[^\\u0000-\\u001f\\u007f]*$'

const text = (description: string, example: string) => ({
  type: ['string', 'null'],
  maxLength: 255,
  pattern: PRINTABLE,
  description,
  examples: [example],
})

const time = (description: string) => ({
  type: ['string', 'null'],
  format: 'date-time',
  description,
  examples: ['2026-11-20T18:00:00.000Z'],
})

const agentUri = { type: 'string', description: 'The agent.', examples: ['sip:alice@acme.example'] }
const deviceStatus = numberedSchema(DeviceStatus, "State of the agent's device.")

export const agentUriParam = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: "The agent's user URI, percent-encoded where it has special characters.",
  examples: ['sip:alice@acme.example'],
}

export const presenceSchema = component('PresenceSetting', {
  type: 'object',
  required: ['statusCode'],
  properties: {
    statusCode: {
      type: ['string', 'integer'],
      description:
        'The user status code, as a string or as a number. An unknown one is answered with those that are known.',
      examples: ['66', 66],
    },
    until: {
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'When the status ends by itself, and the standing status comes back. In the future, with a time zone. Absent or null: it is the standing status from now on.',
      examples: ['2026-11-20T18:00:00Z'],
    },
    message: text('Free text, shown with the status.', 'back at two'),
    location: text('Where the agent is, shown with the status.', 'home office'),
  },
})

const stateProperties = {
  agentUri,
  statusCode: statusCodeSchema(
    'The effective status: on the phone or after-call work while they last, else the temporary status, else the standing one.',
  ),
  statusName: { type: 'string', description: 'What the status code means.', examples: ['Available'] },
  standingStatusCode: statusCodeSchema('The status that was last set without `until`, to which all others revert.'),
  pendingStatusCode: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'The status that was set during a call and is applied after it; null: none.',
    examples: [66],
  },
  deviceStatus,
  deviceStatusName: {
    type: 'string',
    enum: Object.keys(DeviceStatus),
    description: 'What the device status means.',
    examples: ['idle'],
  },
  loggedOn: { type: 'boolean', description: 'Provisioned, and the standing status is not Offline.', examples: [true] },
  until: time('When the effective status ends by itself; null: it does not.'),
  message: text('Free text that was set with the status.', 'back at two'),
  location: text('Location that was set with the status.', 'home office'),
  since: time('When the effective status began; null: as provisioned.'),
  sequence: {
    type: 'integer',
    minimum: 0,
    description: "That of the agent's last `agent.status` event, which says the same; 0: there was none yet.",
    examples: [17],
  },
}

export const agentStateSchema = component('AgentState', {
  type: 'object',
  description: "An agent's present state, as the latest `agent.status` event told it.",
  required: Object.keys(stateProperties),
  properties: stateProperties,
})

const callStateProperties = {
  agentUri,
  device: {
    type: ['string', 'null'],
    description: "The agent's device, as the platform names it.",
    examples: ['SIM/alice'],
  },
  deviceStatus,
  asOf: {
    type: 'string',
    format: 'date-time',
    description: 'When this was read.',
    examples: ['2026-11-20T17:06:01.173Z'],
  },
  calls: {
    type: 'array',
    description: 'Every live leg, exactly as the latest `call.status` event told it; empty when idle.',
    items: component('CallStatus', callStatusSchema),
  },
}

export const callStateSchema = component('CallState', {
  type: 'object',
  description:
    "The calls of an agent's device. Who has missed events repairs himself by this: apply what has a higher sequence.",
  required: Object.keys(callStateProperties),
  properties: callStateProperties,
})
