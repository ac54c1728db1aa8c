import type { Route, Schema } from '../http/route.ts'
import { type Components, createComponents } from './components.ts'
import { deliveryWebhook } from './delivery-webhook.ts'
import { DESCRIPTION, TAGS } from './document-texts.ts'
import { exampleOf } from './example-of.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { describedBy, jsonContent } from './json-content.ts'
import { problemSchema } from './problem-schema.ts'
import { responsesOf } from './responses.ts'

/** An OpenAPI 3.1 document, as JSON. */
export type ApiDocument = Readonly<Record<string, unknown>>

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
    webhooks: { delivery: { post: deliveryWebhook(components) } },
    components: {
      ...components.collected(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            "An access token of the tenant's identity provider, by the OAuth 2.0 client credentials flow: POST its token endpoint " +
            '(`{auth_url}/{tenant_id}/oauth2/v2.0/token`) a form of `grant_type=client_credentials`, `client_id`, `client_secret` and ' +
            '`scope` (`{service_application_id}/.default`). Which provider, client and scope these are is a matter of the installation: its operator ' +
            'knows. A local stack has a provider of its own, for development: `make up` prints its address and a command that gets a token; by default ' +
            'that is a POST to `http://127.0.0.1:8090/acme/oauth2/v2.0/token`, with the scope `switchhook/.default`. ' +
            'A token is valid for about an hour: use it until shortly before its end. A 401 with `code` `unauthorized` calls for a new token, and the same ' +
            'request once more; a 401 `missing-agent-uri` (the specification wants that status) is about the body, and a new token does not help. ' +
            'An on-premise installation can let configured networks in without one.',
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
      requestBody: {
        required: route.isBodyOptional !== true,
        content: jsonContent(components.schema(body), exampleOf(body)),
      },
    }),
    responses: responsesOf(route, components),
  }
}

function withParameters({ path, params = {}, query = {}, idempotent }: Route, components: Components): Schema {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const schema = params[name]
    if (schema === undefined) throw new Error(`${path} does not describe ${name}`)
    return { name, in: 'path', required: true, ...describedBy(components.schema(schema)) }
  })
  const inQuery = Object.entries(query).map(([name, schema]) => {
    return { name, in: 'query', required: false, ...describedBy(components.schema(schema)) }
  })
  const parameters = [...inPath, ...inQuery, ...(idempotent === true ? [idempotencyKey] : [])]
  return parameters.length === 0 ? {} : { parameters }
}
