import { CALL_COMMANDS } from '@switchhook/contracts'
import { completeObject, component, flag, guid, moment, orNull, text, type ValueOf } from '../../http/schema.ts'

/** One line of text: signalling must not carry line breaks or other control characters. */
export const PRINTABLE = '^[^\\u0000-\\u001f\\u007f]*$'

export const address = (description: string, example: string) =>
  text(description, example, { minLength: 1, maxLength: 255, pattern: PRINTABLE })

const agentUri = address('User URI of the agent who starts or owns the call.', 'sip:alice@acme.example')

const correlationId = (description: string) =>
  orNull(text(`${description} Empty: as if absent.`, 'crm-4711', { maxLength: 128, pattern: PRINTABLE }))

/** The correlation id of a command; null: it has none. An empty one identifies nothing. */
export const correlationIdOf = (body: { readonly correlationId?: string | null }): string | null =>
  body.correlationId || null

export const dialSchema = component('DialCommand', {
  type: 'object',
  required: ['agentUri', 'destination'],
  properties: {
    agentUri,
    destination: address(
      'Number or URI to dial. The simulator knows these numbers: `+15550100` answers after 1 s, `+15550101` is busy, ' +
        '`+15550102` never answers (the call ends after 30 s), `+15550103` is a bad address, `+15550104` answers and cannot be held, `+15550105` answers and hangs up ' +
        '5 s later, `+15550106` answers and puts the agent on hold 2 s later, for 3 s, `+1555011n` answers after n seconds. Any other number answers after 2.5 s. The URI ' +
        'of another agent rings that agent for 30 s.',
      '+15550100',
    ),
    cli: orNull(
      text(
        'Presentation number that the called party sees. `anonymous` withholds the number. Absent or null: the platform chooses.',
        '+15550199',
        {
          minLength: 1,
          maxLength: 64,
          pattern: PRINTABLE,
        },
      ),
    ),
    correlationId: correlationId(
      'Your own id for tracing, repeated in every event of the call. Without an `Idempotency-Key`, a dial with the same agent, destination and correlation id returns the earlier call while that call lives, even if the earlier dial had a key; after its end it dials again. A dial with a new key starts a new call.',
    ),
  },
})

export type DialBody = ValueOf<typeof dialSchema>

export const legSchema = component('LegCommand', {
  type: 'object',
  required: ['agentUri'],
  properties: { agentUri },
})

export type LegBody = ValueOf<typeof legSchema>

export const transferSchema = component('TransferCommand', {
  type: 'object',
  required: ['agentUri', 'transferTarget'],
  properties: {
    agentUri,
    transferTarget: address('Agent URI, extension or external number to transfer to.', 'sip:bob@acme.example'),
    blind: {
      type: ['boolean', 'null'],
      default: false,
      description: 'true: blind (unattended) transfer; false: attended transfer with a consultation call.',
      examples: [true],
    },
    correlationId: correlationId(
      'Your own id for tracing, repeated from now on in the events of this call and of the consultation call. Absent or null: the correlation id of `dial` stays.',
    ),
  },
})

export type TransferBody = ValueOf<typeof transferSchema>

export const callIdParam = guid(
  'Id of the call, from the answer of `dial` or from a `call.status` event.',
  '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11',
)

const EXAMPLE_ID = '5f0c1f5e-2c55-4f0a-8f6b-6f1d3f2a9b10'

const accepted = completeObject('The command was accepted. `call.status` events report its result.', {
  callId: { ...callIdParam, description: 'The call that the command acts on.' },
  agentUri,
  command: { type: 'string', enum: CALL_COMMANDS, description: 'The accepted command.', examples: ['dial'] },
  commandId: guid('Id of the command. The events that it causes carry this id.', EXAMPLE_ID),
  correlationId: orNull(text('The correlation id of `dial` or `transfer`.', 'crm-4711')),
  acceptedAt: moment('When the command was accepted.'),
  noop: flag(
    'true: the call was already in the requested state, so the command does nothing and no event follows.',
    false,
  ),
})

export const acceptedSchema = component('CommandAccepted', accepted)

export type AcceptedBody = ValueOf<typeof accepted> & { readonly consultationCallId?: string }

export const transferAcceptedSchema = component('TransferAccepted', {
  ...accepted,
  description: 'The transfer was accepted. `call.status` events report its result.',
  properties: {
    ...accepted.properties,
    consultationCallId: guid(
      'Attended transfers only: the consultation call between the agent and the target.',
      EXAMPLE_ID,
    ),
  },
})
