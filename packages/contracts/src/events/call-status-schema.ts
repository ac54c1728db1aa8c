import type { CallId, CommandId } from '../ids.ts'
import {
  CallState,
  CommandNumber,
  CommandResultNumber,
  Direction,
  EndedBy,
  EndReason,
  LegRole,
  PartyType,
  TransferRole,
  TransferStatus,
} from './call.ts'
import {
  dataSchema,
  describedObject,
  type GuidOf,
  guid,
  integer,
  nullable,
  numberedSchema,
  occurredAt,
  sequenceOf,
  text,
  time,
  type ValueOf,
} from './schema-parts.ts'

const callGuid = (description: string): GuidOf<CallId> => guid(description)
const commandGuid = (description: string): GuidOf<CommandId> => guid(description)

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
  callId: callGuid('The call.'),
  agentUri: text('The agent whose leg this is. A call between two agents has two streams of events.'),
  state: numberedSchema(CallState, "State of this agent's leg. 7 is final."),
  previousState: numberedSchema(CallState, 'State before this event.'),
  sequence: sequenceOf('this call and agent'),
  occurredAt,
  direction: numberedSchema(Direction, "From this agent's point of view."),
  internal: { type: 'boolean', description: 'True for a call between two agents of the contact center.' },
  role: numberedSchema(LegRole, "This agent's part in the call."),
  remoteParty: describedObject('The other party.', {
    uri: nullable(text('SIP or tel URI; null if the number is withheld or unknown.')),
    number: nullable(text('Phone number; null if the party has none or withholds it.')),
    name: nullable(text('Display name; null if the platform does not know it.')),
    type: numberedSchema(PartyType, 'Kind of party.'),
  }),
  cli: nullable(
    text(
      'Caller number that the called party sees; `anonymous`: it is withheld; null: the platform chose or did not say.',
    ),
  ),
  device: nullable(text("The agent's device, in the platform's notation.")),
  correlationId: nullable(
    text('The `correlationId` given to the `dial` or `transfer` that caused this call or event.'),
  ),
  commandId: nullable(commandGuid('The command that caused this event; null if none did.')),
  held: { type: 'boolean', description: 'True while this agent holds the call.' },
  remoteHeld: { type: 'boolean', description: 'True while the other party holds the call.' },
  startedAt: time('When this leg started.'),
  answeredAt: nullable(time('When this leg was first connected.')),
  endedAt: nullable(time('When this leg ended.')),
  durationSeconds: nullable(
    integer('Whole seconds from answer to end; 0 if never answered, null until the end.', { minimum: 0 }),
  ),
  endReason: numberedSchema(EndReason, 'Why the leg ended.'),
  endedBy: numberedSchema(EndedBy, 'Who ended the leg.'),
  cause: nullable(integer('Q.850 cause; null if the platform reported none.')),
  sipCode: nullable(integer('SIP status code; null if the platform reported none.')),
  transfer: nullable(
    describedObject('The transfer that this leg takes part in. It remains after the transfer has ended.', {
      blind: { type: 'boolean', description: 'True for a blind transfer, false for an attended one.' },
      target: text('Agent URI, extension or external number, as requested.'),
      role: numberedSchema(TransferRole, "This leg's part in the transfer."),
      status: numberedSchema(TransferStatus, 'Progress of the transfer.'),
      failReason: numberedSchema(EndReason, 'Why the target was not reached.'),
      otherCallId: nullable(callGuid('The consultation call of an attended transfer.')),
    }),
  ),
  consultation: nullable({
    type: 'object',
    description: 'On the original call: `callId` and `target`. On the consultation call: `forCallId`.',
    properties: {
      callId: callGuid('The consultation call.'),
      target: text('The party consulted.'),
      forCallId: callGuid('The original call.'),
    },
  }),
  commandResult: nullable(
    describedObject(
      'The result of a command that changed no state: it failed after its 202, or another one came first.',
      {
        commandId: commandGuid('The command.'),
        command: numberedSchema(CommandNumber, 'The command.'),
        result: numberedSchema(CommandResultNumber, 'Result of the command.'),
        reason: numberedSchema(EndReason, 'Why the command failed; 0 if it did not.'),
      },
    ),
  ),
} as const

export const callStatusSchema = dataSchema(
  "A full snapshot of one agent's leg of a call, never a delta.",
  properties,
  EXAMPLE,
)

type Described = ValueOf<typeof callStatusSchema>
type AnyConsultation = Required<NonNullable<Described['consultation']>>

/**
 * On the original call: the consultation call and its target. On the consultation call: the original call. The schema has one
 * object with optional fields instead, because generators of clients make every field of an `anyOf` a required one.
 */
export type Consultation = Pick<AnyConsultation, 'callId' | 'target'> | Pick<AnyConsultation, 'forCallId'>
/** `data` of a `call.status` event. `occurredAt` is later than that of the previous event (`occurredAfter`). */
export type CallStatus = Omit<Described, 'consultation'> & { readonly consultation: Consultation | null }
export type RemoteParty = CallStatus['remoteParty']
/** `failReason` is `none` unless the status is failed or cancelled. */
export type Transfer = NonNullable<CallStatus['transfer']>
export type CommandResult = NonNullable<CallStatus['commandResult']>
