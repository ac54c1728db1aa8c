import { AppError, FAILURES, type FailureCode, toProblem } from '@switchhook/contracts'
import { type FailureAt, type ResponseDescription, type RouteSpec, readsToken } from '../route.ts'
import type { Schema } from '../schema.ts'
import { ANSWER_HEADERS, failureHeaders, successHeaders } from './answer-headers.ts'
import { type Components, describedBy, jsonContent } from './components.ts'
import { answerExample, PROBLEM_DETAILS } from './examples.ts'
import { problemSchema } from './problem-schema.ts'

export const responsesOf = (route: RouteSpec, components: Components): Schema => ({
  ...successesOf(route, components),
  ...failuresOf(route, components),
})

function successesOf(route: RouteSpec, components: Components): Schema {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, response]) => {
      const example = response.body && answerExample(route.operationId, Number(status), response.body)
      return [status, successOf(response, components.headers(successHeaders(route)), example, components)]
    }),
  )
}

function successOf(
  { description, body, events, headers = {} }: ResponseDescription,
  more: Schema,
  example: unknown,
  components: Components,
): Schema {
  const own = Object.entries(headers).map(([name, schema]) => [name, describedBy(components.schema(schema))] as const)
  return {
    description,
    headers: { ...Object.fromEntries(own), ...more },
    ...(body !== undefined && { content: jsonContent(components.schema(body), example) }),
    ...(events !== undefined && {
      content: {
        'text/event-stream': {
          schema: { type: 'string' },
          example: events.example,
          'x-messages': components.schema(events.messages),
        },
      },
    }),
  }
}

/** One response per status, with an example per code. All share one schema: generators make a class of each inline one. */
function failuresOf(route: RouteSpec, components: Components): Schema {
  const byStatus = new Map<number, FailureCode[]>()
  for (const failure of [...(route.failures ?? []), ...commonFailures(route)]) {
    const { code, status } = statusOf(failure)
    const codes = byStatus.get(status) ?? []
    if (!codes.includes(code)) byStatus.set(status, [...codes, code])
  }
  const rows = [...byStatus].toSorted(([a], [b]) => a - b)
  return Object.fromEntries(
    rows.map(([status, codes]) => {
      const headers = failureHeaders(route, status, codes)
      const kinds = [
        ...(headers.includes('Idempotent-Replayed') ? ['replayed'] : []),
        ...(readsToken(route) ? [] : ['public']),
      ]
      const response = failureOf(status, codes, components.headers(headers), components)
      return [status, components.response([status, ...codes, ...kinds].join('.'), response)]
    }),
  )
}

function failureOf(status: number, codes: readonly FailureCode[], headers: Schema, components: Components): Schema {
  const [requestId] = ANSWER_HEADERS['X-Request-Id'].schema.examples
  const examples = codes.map((code) => {
    return [code, { value: toProblem(new AppError(code, { ...PROBLEM_DETAILS[code], status }), requestId) }] as const
  })
  return {
    description: codes.map((code) => `\`${code}\`: ${FAILURES[code].title}.`).join(' '),
    headers,
    content: {
      'application/problem+json': { schema: components.schema(problemSchema), examples: Object.fromEntries(examples) },
    },
  }
}

const statusOf = (failure: FailureCode | FailureAt): FailureAt =>
  typeof failure === 'string' ? { code: failure, status: FAILURES[failure].status } : failure

/** The failures that every route of its kind has, besides the ones that the route lists itself. */
function commonFailures(route: RouteSpec): FailureCode[] {
  const { query = {}, body, idempotent, conditional } = route
  return [
    ...(Object.keys(query).length > 0 || body !== undefined ? INVALID : []),
    ...(readsToken(route) ? PROTECTED : []),
    ...(body === undefined ? [] : WITH_BODY),
    ...(idempotent === true ? WITH_KEY : []),
    ...(conditional === true ? CONDITIONAL : []),
    'internal',
  ]
}

const INVALID: FailureCode[] = ['invalid-request']
/** Every route that reads a token also needs Redis. */
const PROTECTED: FailureCode[] = [
  'unauthorized',
  'forbidden',
  'host-not-allowed',
  'cross-site-request',
  'rate-limited',
  'service-unavailable',
]
const WITH_BODY: FailureCode[] = ['malformed-json', 'body-too-large', 'unsupported-media-type']
const CONDITIONAL: FailureCode[] = ['invalid-request', 'precondition-failed']
const WITH_KEY: FailureCode[] = ['invalid-request', 'idempotency-key-in-use', 'idempotency-key-reused']
