import { FAILURES, type FailureCode } from '@switchhook/contracts'
import type { FailureAt, ResponseDescription, Route, Schema } from '../http/route.ts'
import { commonFailures } from './common-failures.ts'
import { type Components, createComponents } from './components.ts'
import { canBeReplayed, idempotencyKey, replayedHeader } from './idempotency-headers.ts'
import { problemSchema } from './problem-schema.ts'
import { rateLimitHeaders } from './rate-limit-headers.ts'

/** An OpenAPI 3.1 document, as JSON. */
export type ApiDocument = Readonly<Record<string, unknown>>

const DESCRIPTION = `Call control, agent state, presence and webhook subscriptions of a contact center.

Times are ISO 8601 in UTC. Members that a request carries and that are not described are ignored; clients likewise ignore members of an answer that they do not know. A command that is answered 2xx was accepted; what came of it is told by the \`call.status\` event.

Requests are counted for each client. Every answer to a client that was let in by its token tells of it, unless the installation has no limit: \`RateLimit-Policy\` (requests per window of seconds) and \`RateLimit\` (what is left, and the seconds until the window ends), by draft-ietf-httpapi-ratelimit-headers-11. One request too many is answered 429 \`rate-limited\` with \`Retry-After\`, and nothing is carried out.

Every error is a \`Problem\`. Beside those listed with an operation: an unknown path is answered 404 \`not-found\`, a method that the resource does not know 405 \`method-not-allowed\`, and what is not HTTP, or arrives too slowly, 400, 408 or 431.`

const TAGS = [
  { name: 'subscriptions', description: 'Who receives which events.' },
  { name: 'deliveries', description: 'What became of the deliveries.' },
  { name: 'calls', description: 'Commands to calls, on behalf of an agent.' },
  { name: 'agents', description: 'State and presence of agents.' },
  { name: 'simulator', description: 'Only where the simulator is the contact center.' },
  { name: 'audit', description: 'Who did what.' },
  { name: 'document', description: 'This document.' },
]

const requestId = {
  description: "The request's own `X-Request-Id`, or one that was made for it.",
  schema: { type: 'string', examples: ['0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'] },
}

/** Describes the routes, and nothing else: what is mounted and what is documented come from the same table. */
export function buildDocument(routes: readonly Route[]): ApiDocument {
  const components = createComponents()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, components) }
  }
  components.schema(problemSchema)
  const used = new Set<string>(routes.map(({ tag }) => tag))
  return {
    openapi: '3.1.0',
    info: { title: 'Switchhook', version: '1.0.0', description: DESCRIPTION, license: { name: 'Proprietary' } },
    servers: [{ url: '/', description: 'This installation.' }],
    security: [{ bearer: [] }],
    tags: TAGS.filter(({ name }) => used.has(name)),
    paths,
    components: {
      ...components.collected(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            "An access token of the tenant's identity provider, by the OAuth 2.0 client credentials flow. An on-premise " +
            'installation can let configured networks in without one.',
        },
      },
    },
  }
}

function operationOf(route: Route, components: Components): Schema {
  const { operationId, tag, summary, description, isPublic, body } = route
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(isPublic === true && { security: [] }),
    ...withParameters(route, components),
    ...(body !== undefined && {
      requestBody: { required: route.isBodyOptional !== true, content: jsonContent(components.schema(body)) },
    }),
    responses: { ...successesOf(route, components), ...failuresOf(route, components) },
  }
}

function withParameters({ path, params = {}, query = {}, idempotent }: Route, components: Components): Schema {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const schema = params[name]
    if (schema === undefined) throw new Error(`${path} does not describe ${name}`)
    return { name, in: 'path', required: true, ...parameter(components.schema(schema)) }
  })
  const inQuery = Object.entries(query).map(([name, schema]) => {
    return { name, in: 'query', required: false, ...parameter(components.schema(schema)) }
  })
  const parameters = [...inPath, ...inQuery, ...(idempotent === true ? [idempotencyKey] : [])]
  return parameters.length === 0 ? {} : { parameters }
}

const parameter = ({ description, ...schema }: Schema): Schema => ({ description, schema })

const jsonContent = (schema: Schema): Schema => ({ 'application/json': { schema } })

function successesOf({ responses, idempotent, isPublic }: Route, components: Components): Schema {
  const more = { ...(idempotent === true && replayedHeader), ...(isPublic !== true && rateLimitHeaders) }
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, successOf(response, more, components)]),
  )
}

function successOf(
  { description, body, headers = {} }: ResponseDescription,
  more: Schema,
  components: Components,
): Schema {
  const described = Object.entries(headers).map(
    ([name, schema]) => [name, parameter(components.schema(schema))] as const,
  )
  return {
    description,
    headers: { ...Object.fromEntries(described), ...more, 'X-Request-Id': requestId },
    ...(body !== undefined && { content: jsonContent(components.schema(body)) }),
  }
}

/** One response for each status, listing the codes that it can have, each with an example. */
function failuresOf(route: Route, components: Components): Schema {
  const byStatus = new Map<number, FailureCode[]>()
  for (const failure of [...route.failures, ...commonFailures(route)]) {
    const { code, status } = statusOf(failure)
    const codes = byStatus.get(status) ?? []
    if (!codes.includes(code)) byStatus.set(status, [...codes, code])
  }
  const rows = [...byStatus].toSorted(([a], [b]) => a - b)
  return Object.fromEntries(
    rows.map(([status, codes]) => {
      const isReplayed = route.idempotent === true && canBeReplayed(status)
      const name = [status, ...codes, ...(isReplayed ? ['replayed'] : [])].join('.')
      return [status, components.response(name, failureOf(status, codes, isReplayed, components))]
    }),
  )
}

function failureOf(status: number, codes: readonly FailureCode[], isReplayed: boolean, components: Components): Schema {
  const schema = { allOf: [components.schema(problemSchema), { properties: { code: { enum: codes } } }] }
  const examples = codes.map((code) => {
    const { title } = FAILURES[code]
    return [
      code,
      { value: { type: 'about:blank', title, status, code, requestId: requestId.schema.examples[0] } },
    ] as const
  })
  return {
    description: codes.map((code) => `\`${code}\`: ${FAILURES[code].title}.`).join(' '),
    headers: { ...failureHeaders(status, codes), ...(isReplayed && replayedHeader), 'X-Request-Id': requestId },
    content: { 'application/problem+json': { schema, examples: Object.fromEntries(examples) } },
  }
}

function failureHeaders(status: number, codes: readonly FailureCode[]): Schema {
  return {
    ...(status === 401 && {
      'WWW-Authenticate': {
        description: 'RFC 6750, section 3.',
        schema: { type: 'string', examples: ['Bearer realm="switchhook"'] },
      },
    }),
    ...(status === 429 && rateLimitHeaders),
    ...((status === 429 || status === 503 || codes.includes('idempotency-key-in-use')) && {
      'Retry-After': { description: 'Seconds after which to try again.', schema: { type: 'integer', examples: [5] } },
    }),
  }
}

const statusOf = (failure: FailureCode | FailureAt): FailureAt =>
  typeof failure === 'string' ? { code: failure, status: FAILURES[failure].status } : failure
