import { EVERY_ROLE, type Role } from '../role.ts'
import { type RouteSpec, readsToken } from '../route.ts'
import type { Schema } from '../schema.ts'
import { type Components, createComponents, describedBy, jsonContent } from './components.ts'
import { BEARER_DESCRIPTION, DESCRIPTION, TAGS } from './document-texts.ts'
import { exampleOf } from './examples.ts'
import { NUMBER_SCHEMAS } from './numbers.ts'
import { problemSchema } from './problem-schema.ts'
import { responsesOf } from './responses.ts'

export type ApiDocument = Readonly<Record<string, unknown>>

/** Its callback is the delivery of an event to the url of the subscription. */
const CREATES_SUBSCRIPTION = 'createSubscription'

/** Describes the request that the service sends to endpoints. */
export type DescribeDelivery = (components: Components) => Schema

/** Builds the document from the table of routes that is also mounted, so the two cannot differ. */
export function buildDocument(routes: readonly RouteSpec[], delivery: DescribeDelivery): ApiDocument {
  const components = createComponents()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route, components, delivery) }
  }
  components.schema(problemSchema, 'answer')
  for (const numbers of NUMBER_SCHEMAS) components.schema(numbers, 'parameter')
  const used = new Set<string>(routes.map(({ tag }) => tag))
  return {
    openapi: '3.1.0',
    info: { title: 'Switchhook', version: '1.0.0', description: DESCRIPTION },
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
          description: BEARER_DESCRIPTION,
        },
      },
    },
  }
}

function operationOf(route: RouteSpec, components: Components, delivery: DescribeDelivery): Schema {
  const { operationId, tag, summary, description, isPublic, role, body } = route
  const descriptions = [description, role && roleNote(role, isPublic)].filter((text) => text !== undefined)
  return {
    operationId,
    tags: [tag],
    summary,
    ...(descriptions.length > 0 && { description: descriptions.join('\n\n') }),
    // OpenAPI 3.1: the array of a scheme other than OAuth 2 lists the roles that the operation needs.
    security: [
      ...(isPublic === true && role !== undefined ? [{}] : []),
      ...(readsToken(route) ? [{ bearer: [role ?? EVERY_ROLE] }] : []),
    ],
    ...withParameters(route, components),
    ...(body !== undefined && {
      requestBody: {
        required: route.isBodyOptional !== true,
        content: jsonContent(components.schema(body, 'request'), exampleOf(body)),
      },
    }),
    responses: responsesOf(route, components),
    // A callback and no webhook: oapi-codegen leaves out the schemas that no path reaches.
    ...(operationId === CREATES_SUBSCRIPTION && {
      callbacks: { delivery: { '{$request.body#/url}': { post: delivery(components) } } },
    }),
  }
}

const roleNote = (role: Role, isPublic: true | undefined): string =>
  isPublic === true ? `A request with a token needs the role \`${role}\`.` : `Needed role: \`${role}\`.`

function withParameters(
  { path, operationId, params = {}, query = {}, idempotent, conditional, isStream }: RouteSpec,
  components: Components,
): Schema {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const schema = params[name]
    if (schema === undefined) throw new Error(`${path} does not describe ${name}`)
    return { name, in: 'path', required: true, ...describedBy(components.schema(schema, 'parameter')) }
  })
  const inQuery = Object.entries(query).map(([name, schema]) => {
    return { name, in: 'query', required: false, ...describedBy(components.schema(schema, 'parameter')) }
  })
  const inHeader = [
    ...(idempotent === true ? [idempotencyKeyOf(operationId)] : []),
    ...(conditional === true ? [ifMatch] : []),
    ...(isStream === true ? [lastEventId] : []),
  ]
  const parameters = [...inPath, ...inQuery, ...inHeader]
  return parameters.length === 0 ? {} : { parameters }
}

const headerParameter = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...schema },
})

/** @param operationId names the key of the example, because a key is for one request */
const idempotencyKeyOf = (operationId: string): Schema =>
  headerParameter(
    'Idempotency-Key',
    'A unique key of your choice that makes this request safe to repeat. For 24 hours, the same key, path and body from the same client ' +
      'return the first answer with `Idempotent-Replayed: true`, and nothing is done twice. A stored error is replayed as well: once ' +
      'its cause is fixed, use a new key. A different body or `If-Match` with the same key is rejected (422 `idempotency-key-reused`). ' +
      'Answers with status 409, 412, 429, 500 or higher are not stored: repeat the request with the same key.',
    { minLength: 1, maxLength: 255, pattern: '^[ -~]+$', examples: [`order-4711-${operationId}`] },
  )

const ifMatch = headerParameter(
  'If-Match',
  'The `ETag` of the answer that your change is based on, or a list of them. If the resource has changed since, nothing is done, and the answer ' +
    'is 412 `precondition-failed`. `*` and no header match always; a weak tag (`W/`) matches never.',
  { examples: ['"yG0eTt1pQZ0M6hGm5B5m1f3Xy8Xg7b6X0f9F0Ch2kSA"'] },
)

const lastEventId = headerParameter(
  'Last-Event-ID',
  'The last `id` that the client received. The stream then begins with the events after it. `EventSource` sends it automatically.',
  { maxLength: 32, examples: ['1795192262123-417'] },
)
