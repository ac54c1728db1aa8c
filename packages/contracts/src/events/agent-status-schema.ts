import { AgentReason, DeviceStatus, STATUS_NAMES } from './agent.ts'
import { numberedSchema } from './numbered-schema.ts'

/** A user status code. The installation's table can be another one, so the names here are the usual ones. */
export const statusCodeSchema = (description: string) =>
  ({
    type: 'integer',
    minimum: 0,
    description: `${description} ${Object.entries(STATUS_NAMES)
      .map(([code, name]) => `${code} ${name}`)
      .join(', ')}.`,
    examples: [2],
  }) as const

const properties = {
  agentUri: { type: 'string', description: 'The agent.' },
  statusCode: statusCodeSchema(
    'The effective status: on the phone or after-call work while they last, else the temporary status, else the standing one.',
  ),
  previousStatusCode: statusCodeSchema('The effective status before this event.'),
  standingStatusCode: statusCodeSchema('The status that was last set without `until`, to which all others revert.'),
  pendingStatusCode: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'The status that was set during a call and is applied after it; null: none.',
  },
  deviceStatus: numberedSchema(DeviceStatus, "State of the agent's device."),
  previousDeviceStatus: numberedSchema(DeviceStatus, 'State of the device before this event.'),
  loggedOn: { type: 'boolean', description: 'Provisioned, and the standing status is not Offline.' },
  until: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When the effective status ends by itself; null: it does not.',
  },
  message: { type: ['string', 'null'], description: 'Free text that was set with the status.' },
  location: { type: ['string', 'null'], description: 'Location that was set with the status.' },
  reason: numberedSchema(AgentReason, 'What brought it about.'),
  sequence: {
    type: 'integer',
    minimum: 1,
    description:
      'Counts the events of this agent from 1 without a gap. Apply an event if its sequence is higher than the last one that you applied. After a restore or a failover of Redis, a sequence can come again: apply an event of another delivery id if its `occurredAt` is later.',
  },
  occurredAt: { type: 'string', format: 'date-time', description: "Equals the envelope's." },
}

const EXAMPLE = {
  agentUri: 'sip:alice@acme.example',
  statusCode: 50,
  previousStatusCode: 2,
  standingStatusCode: 2,
  pendingStatusCode: null,
  deviceStatus: DeviceStatus.inUse,
  previousDeviceStatus: DeviceStatus.ringing,
  loggedOn: true,
  until: null,
  message: null,
  location: null,
  reason: AgentReason.callStarted,
  sequence: 17,
  occurredAt: '2026-11-20T17:06:01.173Z',
}

/** JSON Schema 2020-12 of the `data` of an `agent.status` event, as this service makes it. */
export const agentStatusSchema = {
  type: 'object',
  description: "A full snapshot of an agent's state, never a delta.",
  required: Object.keys(properties),
  properties,
  examples: [EXAMPLE],
}
