import {
  CallState,
  CommandNumber,
  Direction,
  EndedBy,
  EndReason,
  LegRole,
  PartyType,
  TransferRole,
  TransferStatus,
} from './call.ts'
import { guid, numberedSchema, time } from './schema-parts.ts'

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
  role: LegRole.originator,
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
  agentUri: text('The agent whose leg this is. A call between two agents has two streams of events.'),
  state: numberedSchema(CallState, "State of this agent's leg. 7 is final."),
  previousState: numberedSchema(CallState, 'State before this event.'),
  sequence: {
    type: 'integer',
    minimum: 1,
    description:
      'Counts the events of this call and agent from 1, without gaps. The later `(occurredAt, sequence)` is the newer state: `occurredAt` never goes back while `sequence` goes up, and after a restore or failover of Redis a number can repeat.',
  },
  occurredAt: time('Same as `occurredAt` of the envelope.'),
  direction: numberedSchema(Direction, "From this agent's point of view."),
  internal: { type: 'boolean', description: 'True for a call between two agents of the contact center.' },
  role: numberedSchema(LegRole, "This agent's part in the call."),
  remoteParty: {
    type: 'object',
    description: 'The other party.',
    required: ['uri', 'number', 'name', 'type'],
    properties: {
      uri: text('SIP or tel URI.'),
      number: nullable(text('Phone number; null if the party has none.')),
      name: nullable(text('Display name; null if the platform does not know it.')),
      type: numberedSchema(PartyType, 'Kind of party.'),
    },
  },
  cli: nullable(text('Caller number presented to the other party, as given to `dial`.')),
  device: nullable(text("The agent's device, in the platform's notation.")),
  correlationId: nullable(
    text('The `correlationId` given to the `dial` or `transfer` that caused this call or event.'),
  ),
  commandId: nullable(guid('The command that caused this event; null if none did.')),
  held: { type: 'boolean', description: 'True while this agent holds the call.' },
  remoteHeld: { type: 'boolean', description: 'True while the other party holds the call.' },
  startedAt: time('When this leg started.'),
  answeredAt: nullable(time('When this leg was first connected.')),
  endedAt: nullable(time('When this leg ended.')),
  durationSeconds: nullable({
    type: 'integer',
    minimum: 0,
    description: 'Whole seconds from answer to end; 0 if never answered, null until the end.',
  } as const),
  endReason: numberedSchema(EndReason, 'Why the leg ended.'),
  endedBy: numberedSchema(EndedBy, 'Who ended the leg.'),
  cause: nullable({ type: 'integer', description: 'Q.850 cause; null if the platform reported none.' } as const),
  sipCode: nullable({ type: 'integer', description: 'SIP status code; null if the platform reported none.' } as const),
  transfer: {
    type: ['object', 'null'],
    description: 'The transfer that this leg takes part in. It remains after the transfer has ended.',
    required: ['blind', 'target', 'role', 'status', 'failReason', 'otherCallId'],
    properties: {
      blind: { type: 'boolean', description: 'True for a blind transfer, false for an attended one.' },
      target: text('Agent URI, extension or external number, as requested.'),
      role: numberedSchema(TransferRole, "This leg's part in the transfer."),
      status: numberedSchema(TransferStatus, 'Progress of the transfer.'),
      failReason: numberedSchema(EndReason, 'Why the target was not reached.'),
      otherCallId: nullable(guid('The consultation call of an attended transfer.')),
    },
  },
  consultation: {
    description: 'On the original call: its consultation call. On the consultation call: the original call.',
    anyOf: [
      {
        type: 'object',
        required: ['callId', 'target'],
        properties: { callId: guid('The consultation call.'), target: text('The party consulted.') },
      },
      { type: 'object', required: ['forCallId'], properties: { forCallId: guid('The original call.') } },
      { type: 'null' },
    ],
  },
  commandResult: {
    type: ['object', 'null'],
    description: 'The result of a command that changed no state, for example one that failed after its 202.',
    required: ['commandId', 'command', 'result', 'reason'],
    properties: {
      commandId: guid('The command.'),
      command: numberedSchema(CommandNumber, 'The command.'),
      result: numberedSchema({ ok: 1, failed: 2 }, 'Result of the command.'),
      reason: numberedSchema(EndReason, 'Why the command failed.'),
    },
  },
}

export const callStatusSchema = {
  type: 'object',
  description: "A full snapshot of one agent's leg of a call, never a delta.",
  required: Object.keys(properties),
  properties,
  examples: [EXAMPLE],
}
