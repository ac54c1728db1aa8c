import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

type Json = Readonly<Record<string, unknown>>

interface Response {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { readonly schema?: Json }>>
}

export interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>
  >
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly responses: Readonly<Record<string, Response>>
  }
}

/** Headers of one connection, and of a form of the body that the proxy does not keep. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'accept-encoding',
])

const forwarded = (headers: Iterable<readonly [string, unknown]>): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.has(name)).map(([name, one]) => [name, String(one)]))

const nameOf = ($ref: string): string => $ref.split('/').at(-1) ?? ''

/**
 * What a later version may make of an object: a new field in each, and new values.
 * @param kept fields that keep their values
 */
export function changed(
  value: unknown,
  schema: Json,
  { schemas }: Document['components'],
  kept: readonly string[] = [],
) {
  const change = (value: unknown, schema: Json = {}, field = ''): unknown => {
    const { $ref, oneOf } = schema as { $ref?: string; oneOf?: Json[] }
    if ($ref !== undefined) return change(value, schemas[nameOf($ref)], field)
    if (value === null) return value
    // Of a part and null.
    if (oneOf !== undefined) return change(value, oneOf[0], field)
    if ('x-extensible-enum' in schema && !kept.includes(field)) return typeof value === 'number' ? 99 : 'later'
    if (Array.isArray(value)) return value.map((each) => change(each, schema['items'] as Json, field))
    if (typeof value !== 'object') return value
    const properties = schema['properties'] as Readonly<Record<string, Json>> | undefined
    const members = Object.entries(value).map(([name, one]) => [name, change(one, properties?.[name], name)])
    return { ...Object.fromEntries(members), ...(properties && { addedLater: { by: ['a later version'] } }) }
  }
  return change(value, schema)
}

/**
 * A proxy in front of the API that answers as a later version may.
 * @param kept fields that keep their values
 */
export async function startChangedAnswers(api: string, document: Document, kept: readonly string[] = []) {
  /** @throws Error if the document has no such answer */
  const schemaOf = (method: string, path: string, status: number): Json => {
    const [, operations] =
      Object.entries(document.paths).find(
        ([template, { [method]: operation }]) =>
          operation && new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
      ) ?? []
    const response = operations?.[method]?.responses[status]
    const { responses } = document.components
    const { content = {} } = response?.$ref === undefined ? (response ?? {}) : (responses[nameOf(response.$ref)] ?? {})
    const [{ schema } = {}] = Object.values(content)
    if (schema === undefined) throw new Error(`the document has no answer ${status} of ${method} ${path}`)
    return schema
  }

  const server = createServer((request, response) => {
    const answerLater = async (): Promise<void> => {
      const { method = 'GET', url = '/' } = request
      const sent = await buffer(request)
      const headers = forwarded(Object.entries(request.headers))
      const answer = await fetch(api + url, { method, headers, ...(sent.length > 0 && { body: sent }) })
      const body = await answer.text()
      const schema = body === '' ? undefined : schemaOf(method.toLowerCase(), url.split('?')[0] ?? '', answer.status)
      response.writeHead(answer.status, forwarded(answer.headers))
      response.end(schema && JSON.stringify(changed(JSON.parse(body), schema, document.components, kept)))
    }
    answerLater().catch((error: Error) => response.writeHead(500).end(error.message))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
