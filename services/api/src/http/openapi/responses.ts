import { AppError, FAILURES, type FailureCode, toProblem } from '@switchhook/contracts'
import { type FailureAt, type ResponseDescription, type RouteSpec, readsToken } from '../route.ts'
import type { Schema } from '../schema.ts'
import { ANSWER_HEADERS, failureHeaders, successHeaders } from './answer-headers.ts'
import { type Components, describedBy, jsonContent } from './components.ts'
import { answerExample, PROBLEM_DETAILS } from './examples.ts'
import { problemSchema } from './problem-schema.ts'

export function responsesOf(route: RouteSpec, components: Components): Schema {
  const successes = Object.entries(route.responses).map(([status, response]) => {
    return [status, successOf(route, Number(status), response, components)] as const
  })
  return { ...Object.fromEntries(successes), ...failuresOf(route, components) }
}

function successOf(route: RouteSpec, status: number, response: ResponseDescription, components: Components): Schema {
  const { description, body, events, headers = {} } = response
  const own = Object.entries(headers).map(
    ([name, schema]) => [name, describedBy(components.schema(schema, 'answer'))] as const,
  )
  return {
    description,
    headers: { ...Object.fromEntries(own), ...components.headers(successHeaders(route)) },
    ...(body !== undefined && {
      content: jsonContent(components.schema(body, 'answer'), answerExample(route.operationId, status, body)),
    }),
    ...(events !== undefined && {
      content: {
        'text/event-stream': {
          schema: { type: 'string' },
          example: events.example,
          'x-messages': Object.fromEntries(
            Object.entries(events.messages).map(([name, schema]) => [name, components.schema(schema, 'answer')]),
          ),
        },
      },
    }),
  }
}

/** One response per status, with an example per code. All share one schema: generators make a class of each inline one. */
function failuresOf(route: RouteSpec, components: Components): Schema {
  const failures = [...(route.failures ?? []), ...commonFailures(route)].map(statusOf)
  const rows = [...Map.groupBy(failures, ({ status }) => status)].toSorted(([a], [b]) => a - b)
  return Object.fromEntries(
    rows.map(([status, group]) => {
      const codes = [...new Set(group.map(({ code }) => code))]
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
      'application/problem+json': {
        schema: components.schema(problemSchema, 'answer'),
        examples: Object.fromEntries(examples),
      },
    },
  }
}

const statusOf = (failure: FailureCode | FailureAt): FailureAt =>
  typeof failure === 'string' ? { code: failure, status: FAILURES[failure].status } : failure

/** The failures that every route of its kind has, besides the ones that the route lists itself. */
const commonFailures = (route: RouteSpec): FailureCode[] =>
  COMMON.flatMap(([isOfKind, codes]) => (isOfKind(route) ? codes : []))

const COMMON: readonly (readonly [isOfKind: (route: RouteSpec) => boolean, codes: readonly FailureCode[]])[] = [
  [({ query = {}, body }) => Object.keys(query).length > 0 || body !== undefined, ['invalid-request']],
  [readsToken, ['unauthorized', 'forbidden', 'host-not-allowed', 'cross-site-request', 'rate-limited']],
  // Every route that reads a token also needs Redis.
  [readsToken, ['service-unavailable']],
  [({ body }) => body !== undefined, ['malformed-json', 'body-too-large', 'unsupported-media-type']],
  [({ idempotent }) => idempotent === true, ['invalid-request', 'idempotency-key-in-use', 'idempotency-key-reused']],
  [({ conditional }) => conditional === true, ['invalid-request', 'precondition-failed']],
  [() => true, ['internal']],
]
