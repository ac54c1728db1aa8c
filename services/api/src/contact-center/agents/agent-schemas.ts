import { callStatusSchema, DeviceStatus, numberedSchema, statusCodeSchema } from '@switchhook/contracts'
import { component } from '../../http/component.ts'
import { pageSchema } from '../../http/page-schema.ts'
import { completeComponent, flag, orNull, text, time } from '../../http/schema-parts.ts'
import { callLegSchema } from '../calls/call-leg.ts'
import { PRINTABLE } from '../calls/call-schemas.ts'

const note = (description: string, example: string) => ({
  type: ['string', 'null'],
  maxLength: 255,
  pattern: PRINTABLE,
  description,
  examples: [example],
})

const timeOrNull = (description: string) => ({
  type: ['string', 'null'],
  format: 'date-time',
  description,
  examples: ['2026-11-20T18:00:00.000Z'],
})

const agentUri = text('The agent.', 'sip:alice@acme.example')
const deviceStatus = numberedSchema(DeviceStatus, "State of the agent's device.")

export const agentUriParam = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: "The agent's user URI. Percent-encode special characters.",
  examples: ['sip:alice@acme.example'],
}

export const presenceSchema = component('PresenceSetting', {
  type: 'object',
  required: ['statusCode'],
  properties: {
    statusCode: {
      anyOf: [{ type: 'string' }, { type: 'integer' }],
      description:
        'The user status code, as a string or a number. An unknown code is answered with the list of known codes.',
      examples: ['66', 66],
    },
    until: {
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'When the status ends and the standing status returns: a time in the future until 9999-12-31T23:59:59.999Z, with a time zone as hours and minutes. Absent or null: sets the standing status.',
      examples: ['2099-11-20T18:00:00Z'],
    },
    message: note('Free text, shown with the status.', 'back at two'),
    location: note("The agent's location, shown with the status.", 'home office'),
  },
})

const stateProperties = {
  agentUri,
  statusCode: statusCodeSchema(
    'The effective status: on the phone or after-call work while either lasts, otherwise the temporary status, otherwise the standing status.',
  ),
  statusName: text('Name of the status code.', 'Available'),
  standingStatusCode: statusCodeSchema(
    'The latest status that was set without `until`. Every other status reverts to it.',
  ),
  pendingStatusCode: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'A status that was set during a call and takes effect after it; null: none.',
    examples: [66],
  },
  deviceStatus,
  deviceStatusName: {
    type: 'string',
    enum: Object.keys(DeviceStatus),
    description: 'Name of the device status.',
    examples: ['idle'],
  },
  loggedOn: flag('true unless the standing status is Offline. A temporary Offline does not log the agent off.', true),
  until: timeOrNull('When the effective status ends; null: it has no end.'),
  message: note('The free text that was set with the status.', 'back at two'),
  location: note('The location that was set with the status.', 'home office'),
  since: timeOrNull('When the effective status began; null: it has not changed since the agent was provisioned.'),
  sequence: {
    type: 'integer',
    minimum: 0,
    description: "`sequence` of the agent's latest `agent.status` event, which reported this state; 0: no event yet.",
    examples: [17],
  },
  occurredAt: timeOrNull('`occurredAt` of that event; null: no event yet.'),
}

export const agentStateSchema = completeComponent(
  'AgentState',
  "An agent's current state, as the latest `agent.status` event reported it.",
  stateProperties,
)

const agentWithCallsSchema = completeComponent('AgentWithCalls', "An agent's current state and live calls.", {
  ...stateProperties,
  calls: {
    type: 'array',
    description: "The agent's live call legs. Empty when the device is idle.",
    items: callLegSchema,
  },
})

export const agentPageSchema = pageSchema('AgentPage', 'A page of agents.', agentWithCallsSchema, 'by URI')

export const callStateSchema = completeComponent(
  'CallState',
  "The calls of an agent's device. To recover from missed events, apply each snapshot whose `(occurredAt, sequence)` is later than yours.",
  {
    agentUri,
    device: orNull(text("The platform's name of the agent's device.", 'SIM/alice')),
    deviceStatus,
    asOf: time('When the state was read.', '2026-11-20T17:06:01.173Z'),
    calls: {
      type: 'array',
      description:
        'Every live call leg, exactly as its latest `call.status` event reported it. Empty when the device is idle.',
      items: component('CallStatus', callStatusSchema),
    },
  },
)
