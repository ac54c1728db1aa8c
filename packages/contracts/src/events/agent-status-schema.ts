import { AgentReason, DeviceStatus, STATUS_NAMES } from './agent.ts'
import {
  dataSchema,
  integer,
  nullable,
  numberedSchema,
  occurredAt,
  sequenceOf,
  text,
  time,
  type ValueOf,
} from './schema-parts.ts'

/** A user status code. The names are the defaults; an installation can configure its own table. */
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
  agentUri: text('The agent.'),
  statusCode: statusCodeSchema(
    'The effective status: on the phone or after-call work while it lasts, otherwise the temporary status, otherwise the standing status.',
  ),
  previousStatusCode: statusCodeSchema('The effective status before this event.'),
  standingStatusCode: statusCodeSchema(
    'The status last set without `until`. Temporary and automatic statuses revert to it.',
  ),
  pendingStatusCode: nullable(
    integer('The status set during a call, applied after the call; null if none.', { minimum: 0 }),
  ),
  deviceStatus: numberedSchema(DeviceStatus, "State of the agent's device."),
  previousDeviceStatus: numberedSchema(DeviceStatus, 'State of the device before this event.'),
  loggedOn: {
    type: 'boolean',
    description:
      'True if the agent is provisioned and the standing status is not Offline. A temporary Offline does not log the agent off.',
  },
  until: nullable(time('When the effective status expires; null if it does not.')),
  message: nullable(text('Free text set with the status.')),
  location: nullable(text('Location set with the status.')),
  reason: numberedSchema(AgentReason, 'Why the state changed.'),
  sequence: sequenceOf('this agent'),
  occurredAt,
} as const

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

export const agentStatusSchema = dataSchema("A full snapshot of an agent's state, never a delta.", properties, EXAMPLE)

/**
 * `data` of an `agent.status` event. `occurredAt` is later than that of the previous event (`occurredAfter`). A pending
 * status is applied after the call and its after-call work.
 */
export type AgentStatus = ValueOf<typeof agentStatusSchema>
