import { callStatusSchema, DeviceStatus, numberedSchema, statusCodeSchema } from '@switchhook/contracts'
import {
  choice,
  completeComponent,
  component,
  count,
  flag,
  list,
  moment,
  momentOrNull,
  orNull,
  pageSchema,
  shownAs,
  text,
  type ValueOf,
} from '../../http/schema.ts'
import { callLegSchema } from '../calls/call-leg.ts'
import { PRINTABLE } from '../calls/call-schemas.ts'

const note = (description: string, example: string | null) =>
  orNull(text(description, example, { maxLength: 255, pattern: PRINTABLE }))

const timeOrNull = (description: string, example: string | null = '2026-11-20T18:00:00.000Z') =>
  momentOrNull(description, example)

const agentUri = text('The agent.', 'sip:alice@acme.example')
const deviceStatus = numberedSchema(DeviceStatus, "State of the agent's device.")

export const agentUriParam = text(
  "The agent's user URI. Percent-encode special characters.",
  'sip:alice@acme.example',
  { minLength: 1, maxLength: 255 },
)

export const presenceSchema = component('PresenceSetting', {
  type: 'object',
  required: ['statusCode'],
  properties: {
    statusCode: shownAs(
      { anyOf: [{ type: 'string' }, { type: 'integer' }], examples: ['66'] },
      text(
        'The user status code, as a string; a JSON number is accepted as well. An unknown code is answered with the list of known codes.',
        '66',
      ),
    ),
    until: momentOrNull(
      'When the status ends and the standing status returns: a time in the future until 9999-12-31T23:59:59.999Z, with a time zone as hours and minutes. Absent or null: sets the standing status.',
      '2099-11-20T18:00:00Z',
    ),
    message: note('Free text, shown with the status.', 'back at two'),
    location: note("The agent's location, shown with the status.", 'home office'),
  },
})

export type PresenceBody = ValueOf<typeof presenceSchema>

const stateProperties = {
  agentUri,
  statusCode: statusCodeSchema(
    'The effective status: on the phone or after-call work while either lasts, otherwise the temporary status, otherwise the standing status.',
  ),
  statusName: text('Name of the status code.', 'Available'),
  standingStatusCode: statusCodeSchema(
    'The latest status that was set without `until`. Every other status reverts to it.',
  ),
  pendingStatusCode: orNull(count('A status that was set during a call and takes effect after it; null: none.', null)),
  deviceStatus: { ...deviceStatus, examples: [DeviceStatus.idle] },
  deviceStatusName: choice(Object.keys(DeviceStatus), 'Name of the device status.', 'idle'),
  loggedOn: flag('true unless the standing status is Offline. A temporary Offline does not log the agent off.', true),
  until: timeOrNull('When the effective status ends; null: it has no end.', null),
  message: note('The free text that was set with the status.', null),
  location: note('The location that was set with the status.', 'home office'),
  since: timeOrNull('When the effective status began; null: it has not changed since the agent was provisioned.'),
  sequence: count(
    "`sequence` of the agent's latest `agent.status` event, which reported this state; 0: no event yet.",
    17,
  ),
  occurredAt: timeOrNull('`occurredAt` of that event; null: no event yet.'),
}

export const agentStateSchema = completeComponent(
  'AgentState',
  "An agent's current state, as the latest `agent.status` event reported it.",
  stateProperties,
)

const agentWithCallsSchema = completeComponent('AgentWithCalls', "An agent's current state and live calls.", {
  ...stateProperties,
  calls: list("The agent's live call legs. Empty when the device is idle.", callLegSchema),
})

export const agentPageSchema = pageSchema('AgentPage', 'A page of agents.', agentWithCallsSchema, 'by URI')

export const callStateSchema = completeComponent(
  'CallState',
  "The calls of an agent's device. To recover from missed events, apply each snapshot whose `(occurredAt, sequence)` is later than yours.",
  {
    agentUri,
    device: orNull(text("The platform's name of the agent's device.", 'SIM/alice')),
    deviceStatus,
    asOf: moment('When the read began. A call that began later can be missing.'),
    calls: list(
      'Every live call leg, exactly as its latest `call.status` event reported it. Empty when the device is idle.',
      component('CallStatus', callStatusSchema),
    ),
  },
)
