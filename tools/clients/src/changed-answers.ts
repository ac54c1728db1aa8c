import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Readonly<Record<string, unknown>>

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly responses: Readonly<Record<string, { readonly content?: Json }>> }>>
    >
  >
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

/** A proxy in front of the API that answers as a later version may: with a new field and new values. */
export async function startChangedAnswers(api: string, document: Document) {
  const change = (value: unknown, schema: Json = {}): unknown => {
    const { $ref, oneOf, anyOf } = schema as { $ref?: string; oneOf?: Json[]; anyOf?: Json[] }
    if ($ref !== undefined) return change(value, document.components.schemas[$ref.split('/').at(-1) ?? ''])
    if (value === null) return value
    const union = oneOf ?? anyOf
    if (union !== undefined) return change(value, union[0])
    if ('x-extensible-enum' in schema) return typeof value === 'number' ? 99 : 'later'
    if (Array.isArray(value)) return value.map((each) => change(each, schema['items'] as Json))
    if (typeof value !== 'object') return value
    const properties = schema['properties'] as Readonly<Record<string, Json>> | undefined
    const members = Object.entries(value).map(([name, one]) => [name, change(one, properties?.[name])])
    return { ...Object.fromEntries(members), ...(properties && { addedLater: { by: ['a later version'] } }) }
  }

  const schemaOf = (method: string, path: string, status: number): Json | undefined => {
    const found = Object.entries(document.paths).find(([template]) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    const { content = {} } = found?.[1][method]?.responses[status] ?? {}
    return (content['application/json'] as { readonly schema?: Json } | undefined)?.schema
  }

  const server = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url = '/', headers } = request
      const answer = await fetch(api + url, { method, headers: { authorization: headers.authorization ?? '' } })
      const schema = schemaOf(method.toLowerCase(), url.split('?')[0] ?? '', answer.status)
      const body: unknown = await answer.json()
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      response.end(JSON.stringify(change(body, schema)))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}
