import { CALL_COMMANDS, CallState, EVENT_TYPES, FAILURES, numberedSchema, PROBLEMS_PAGE } from '@switchhook/contracts'
import { ROLES } from '../role.ts'
import { choice, completeComponent, component, list, text } from '../schema.ts'

/** The problem details of RFC 9457, with the fields that this service adds. */
export const problemSchema = component('Problem', {
  type: 'object',
  description: 'An error (RFC 9457). Branch on `code`: the texts are for people and may change.',
  required: ['type', 'title', 'status', 'code', 'requestId'],
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description:
        'The path of the documentation of `code` in this installation, `/api/v1/docs/problems#{code}`. Resolve it against the url of the request.',
      examples: [`${PROBLEMS_PAGE}#invalid-request`],
    },
    title: text('The meaning of `code`.', FAILURES['invalid-request'].title),
    status: { type: 'integer', description: 'The HTTP status.', examples: [400] },
    code: choice(Object.keys(FAILURES), 'Identifies the error. Codes are stable.', 'invalid-request'),
    requestId: text(
      'The `X-Request-Id` of the answer. Quote it when you contact the operator.',
      '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11',
    ),
    detail: text('More about this error.', 'The body is not valid'),
    errors: list(
      'The invalid fields or parameters of the request; of thousands, the first ten of each kind.',
      completeComponent('Fault', 'One invalid field or parameter.', {
        pointer: text('A JSON pointer (RFC 6901) into the body, or `/<name>` for a query parameter.', '/url'),
        detail: text('What is wrong with the value.', 'is required'),
      }),
    ),
    knownEventTypes: list(
      'The known event types. Present if `url` or `eventTypes` is invalid.',
      { type: 'string', examples: [EVENT_TYPES[0]] },
      { examples: [EVENT_TYPES] },
    ),
    knownFields: {
      type: 'object',
      description: 'The fields that a filter can name, by event type. Present if `filter` is invalid.',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      examples: [{ 'agent.status': ['agentUri', 'statusCode'] }],
    },
    knownStatusCodes: list(
      'The known user status codes. Present if a presence was rejected.',
      completeComponent('UserStatus', 'A user status.', {
        code: { type: 'integer', description: 'The code to send.', examples: [2] },
        name: text('The name of the status.', 'Available'),
      }),
    ),
    requiredRole: choice(
      ROLES,
      'The role that the operation needs. Present if the caller does not have it.',
      'operator',
    ),
    currentState: numberedSchema(CallState, "The current state of the agent's leg. Present if a command was rejected."),
    allowedCommands: list(
      "The commands that are possible in this state with this agent's device. Present if a command was rejected.",
      { type: 'string', enum: CALL_COMMANDS },
      { examples: [['hangup']] },
    ),
  },
})
