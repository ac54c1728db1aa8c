import {
  CallState,
  CommandNumber,
  Direction,
  EndedBy,
  EndReason,
  PartyType,
  Role,
  TransferRole,
  TransferStatus,
} from './call.ts'
import { numberedSchema } from './numbered-schema.ts'

const guid = (description: string) => ({ type: 'string', format: 'uuid', description }) as const
const time = (description: string) => ({ type: 'string', format: 'date-time', description }) as const
const nullable = <T extends { readonly type: string }>(schema: T) =>
  ({ ...schema, type: [schema.type, 'null'] }) as const
const text = (description: string) => ({ type: 'string', description }) as const

const EXAMPLE = {
  callId: '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11',
  agentUri: 'sip:alice@acme.example',
  state: CallState.connected,
  previousState: CallState.proceeding,
  sequence: 3,
  occurredAt: '2026-11-20T17:06:01.173Z',
  direction: Direction.outbound,
  internal: false,
  role: Role.originator,
  remoteParty: { uri: 'tel:+15550100', number: '+15550100', name: null, type: PartyType.external },
  cli: '+15550199',
  device: 'SIM/alice',
  correlationId: 'crm-4711',
  commandId: '5f0c1f5e-2c55-4f0a-8f6b-6f1d3f2a9b10',
  held: false,
  remoteHeld: false,
  startedAt: '2026-11-20T17:05:59.871Z',
  answeredAt: '2026-11-20T17:06:01.173Z',
  endedAt: null,
  durationSeconds: null,
  endReason: EndReason.none,
  endedBy: EndedBy.unknown,
  cause: null,
  sipCode: null,
  transfer: null,
  consultation: null,
  commandResult: null,
}

const properties = {
  callId: guid('The call.'),
  agentUri: text('The agent whose leg of the call this is. One call with two agents has two streams of events.'),
  state: numberedSchema(CallState, "State of this agent's leg; 7 is final."),
  previousState: numberedSchema(CallState, 'State before this event.'),
  sequence: {
    type: 'integer',
    minimum: 1,
    description:
      'Counts the events of this call and agent from 1 without a gap. Apply an event if its sequence is higher than the last one that you applied. After a restore or a failover of Redis, a sequence can come again: apply an event of another delivery id if its `occurredAt` is later.',
  },
  occurredAt: time("Equals the envelope's."),
  direction: numberedSchema(Direction, "From this agent's point of view."),
  internal: { type: 'boolean', description: 'Between two agents of the contact center.' },
  role: numberedSchema(Role, "This agent's part in the call."),
  remoteParty: {
    type: 'object',
    description: 'Who is at the other end.',
    required: ['uri', 'number', 'name', 'type'],
    properties: {
      uri: text('SIP or tel URI.'),
      number: nullable(text('Number, if it has one.')),
      name: nullable(text('Name, if the platform knows it.')),
      type: numberedSchema(PartyType, 'What kind of party.'),
    },
  },
  cli: nullable(text('Outbound presentation number, as it was dialled with.')),
  device: nullable(text("The agent's device, as the platform names it.")),
  correlationId: nullable(
    text('As it was given to `dial`, or to the `transfer` that brought this call or event about.'),
  ),
  commandId: nullable(guid('The command that brought this about, if one did.')),
  held: { type: 'boolean', description: 'Held by this agent.' },
  remoteHeld: { type: 'boolean', description: 'Held by the other side.' },
  startedAt: time('When this leg began.'),
  answeredAt: nullable(time('When it was first connected.')),
  endedAt: nullable(time('When it ended.')),
  durationSeconds: nullable({
    type: 'integer',
    minimum: 0,
    description: 'From the answer to the end, in whole seconds; 0 if it was never answered, null before the end.',
  } as const),
  endReason: numberedSchema(EndReason, 'Why it ended.'),
  endedBy: numberedSchema(EndedBy, 'Who ended it.'),
  cause: nullable({ type: 'integer', description: 'Q.850 cause, if the platform told one.' } as const),
  sipCode: nullable({ type: 'integer', description: 'SIP status, if the platform told one.' } as const),
  transfer: {
    type: ['object', 'null'],
    description: 'The transfer that this leg takes part in; it stays when the transfer is over.',
    required: ['blind', 'target', 'role', 'status', 'failReason', 'otherCallId'],
    properties: {
      blind: { type: 'boolean', description: 'true: to the target at once; false: after a consultation.' },
      target: text('Agent URI, extension or external number, as it was asked for.'),
      role: numberedSchema(TransferRole, "This leg's part in it."),
      status: numberedSchema(TransferStatus, 'How far it has got.'),
      failReason: numberedSchema(EndReason, 'Why the target could not be had.'),
      otherCallId: nullable(guid('The consultation call of an attended transfer.')),
    },
  },
  consultation: {
    type: ['object', 'null'],
    description: 'On the original call: the consultation that is under way. On the consultation call: what it is for.',
    anyOf: [
      {
        type: 'object',
        required: ['callId', 'target'],
        properties: { callId: guid('The consultation call.'), target: text('Who is consulted.') },
      },
      { type: 'object', required: ['forCallId'], properties: { forCallId: guid('The original call.') } },
      { type: 'null' },
    ],
  },
  commandResult: {
    type: ['object', 'null'],
    description: 'The result of a command that changed no state, such as one that failed after its 202.',
    required: ['commandId', 'command', 'result', 'reason'],
    properties: {
      commandId: guid('The command.'),
      command: numberedSchema(CommandNumber, 'The command.'),
      result: numberedSchema({ ok: 1, failed: 2 }, 'How it came out.'),
      reason: numberedSchema(EndReason, 'Why it failed.'),
    },
  },
}

/** JSON Schema 2020-12 of the `data` of a `call.status` event, as this service makes it. */
export const callStatusSchema = {
  type: 'object',
  description: "A full snapshot of one agent's leg of a call, never a delta.",
  required: Object.keys(properties),
  properties,
  examples: [EXAMPLE],
}
