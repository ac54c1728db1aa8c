import { CALL_COMMANDS, CallState, EVENT_TYPES, FAILURES, numberedSchema } from '@switchhook/contracts'
import { component } from '../http/component.ts'

/** RFC 9457, with the members that this service adds. */
export const problemSchema = component('Problem', {
  type: 'object',
  description: 'What went wrong (RFC 9457). Decide by `code`; the texts are for people and may change.',
  required: ['type', 'title', 'status', 'code', 'requestId'],
  properties: {
    type: {
      type: 'string',
      description: 'Always `about:blank`: the kind of problem is told by `code`.',
      examples: ['about:blank'],
    },
    title: { type: 'string', description: 'What `code` means.', examples: [FAILURES['invalid-request'].title] },
    status: { type: 'integer', description: 'The HTTP status.', examples: [400] },
    code: {
      type: 'string',
      enum: Object.keys(FAILURES),
      description: 'What went wrong. Stable.',
      examples: ['invalid-request'],
    },
    requestId: {
      type: 'string',
      description: 'The value of `X-Request-Id`: quote it when you ask the operator.',
      examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'],
    },
    detail: { type: 'string', description: 'More about this occurrence.', examples: ['The body is not valid'] },
    errors: {
      type: 'array',
      description: 'Every fault of the request that was found.',
      items: component('Fault', {
        type: 'object',
        description: 'One fault of a request.',
        required: ['pointer', 'detail'],
        properties: {
          pointer: {
            type: 'string',
            description: 'Where: a JSON pointer (RFC 6901) into the body, or `/<name>` of a query parameter.',
            examples: ['/url'],
          },
          detail: { type: 'string', description: 'What is wrong there.', examples: ['is required'] },
        },
      }),
    },
    knownEventTypes: {
      type: 'array',
      description: 'With a fault of `url` or `eventTypes`: the event types that there are.',
      items: { type: 'string', examples: [EVENT_TYPES[0]] },
      examples: [EVENT_TYPES],
    },
    knownStatusCodes: {
      type: 'array',
      description: 'With a refused presence: the user status codes that there are.',
      items: component('UserStatus', {
        type: 'object',
        description: 'A user status.',
        required: ['code', 'name'],
        properties: {
          code: { type: 'integer', description: 'What is sent.', examples: [2] },
          name: { type: 'string', description: 'What it means.', examples: ['Available'] },
        },
      }),
    },
    currentState: numberedSchema(CallState, "With a refused command: the state of the agent's leg."),
    allowedCommands: {
      type: 'array',
      description: 'With a refused command: what is possible in this state.',
      items: { type: 'string', enum: CALL_COMMANDS },
      examples: [['hangup']],
    },
  },
})
