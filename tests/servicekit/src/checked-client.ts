import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@switchhook/test-servers'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface CheckedAnswer {
  readonly status: number
  readonly headers: Headers
  /** Parsed; undefined for an answer without a body. */
  readonly body: unknown
}

interface ClientRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: string | Uint8Array
}

/** Calls the API over HTTP and checks every answer against the API document. */
export type CheckedClient = (method: string, path: string, request?: ClientRequest) => Promise<CheckedAnswer>

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>>
  >
}

/** A response of the document. */
interface DocumentedResponse {
  readonly headers?: object
  readonly content?: Readonly<Record<string, { readonly examples?: object } | undefined>>
}

/** The api serves this document, and its schemas are valid; other tests check both. */
const document = JSON.parse(readFileSync(join(repository, 'docs', 'openapi.json'), 'utf8')) as Document
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
// Clients accept any value; the service sends only these.
ajv.addKeyword({ keyword: 'x-extensible-enum', macro: (values: readonly unknown[]) => ({ enum: values }) })
ajv.addSchema(document, 'openapi.json')

const check = (pointer: string, body: unknown): void => {
  const validate = ajv.getSchema(`openapi.json#${pointer}`) ?? ajv.compile({ $ref: `openapi.json#${pointer}` })
  if (!validate(body)) throw new Error(`The answer does not match the document: ${ajv.errorsText(validate.errors)}`)
}

const responseAt = (pointer: string) => {
  const steps = pointer.split('/').slice(1).map(unescape)
  return steps.reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], document) as DocumentedResponse
}
const headersIn = (pointer: string): readonly string[] =>
  Object.keys(responseAt(pointer).headers ?? {}).map((name) => name.toLowerCase())
const codesIn = (pointer: string): readonly string[] =>
  Object.keys(responseAt(pointer).content?.['application/problem+json']?.examples ?? {})

export function createCheckedClient(baseUrl: string): CheckedClient {
  return async (method, path, request = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...(request.json !== undefined && { 'content-type': 'application/json' }), ...request.headers },
      ...(request.json !== undefined && { body: JSON.stringify(request.json) }),
      ...(request.body !== undefined && { body: request.body as string }),
    })
    const text = await response.text()
    const { status, headers } = response
    const type = headers.get('content-type')?.split(';')[0]
    const body: unknown = text === '' ? undefined : JSON.parse(text)

    expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/)
    if (status >= 400) {
      expect(type).toBe('application/problem+json')
      check('/components/schemas/Problem', body)
      expect(body).toMatchObject({ status, requestId: headers.get('x-request-id') })
    }
    const template = templateOf(path)
    if (template === undefined || status === 405 || !isUtf8(path)) return { status, headers, body }

    const at = `/paths/${escape(template)}/${method.toLowerCase()}/responses/${status}`
    const listed = document.paths[template]?.[method.toLowerCase()]?.responses[status]
    if (listed === undefined) throw new Error(`The document lists no ${status} for ${method} ${template}: ${text}`)
    const described = '$ref' in listed ? String(listed.$ref).slice(1) : at
    const sent = DOCUMENTED_HEADERS.filter((name) => headers.has(name))
    expect([method, template, status, headersIn(described)]).toEqual([
      method,
      template,
      status,
      expect.arrayContaining(sent),
    ])
    if (type !== undefined) check(`${described}/content/${escape(type)}/schema`, body)
    else expect(text).toBe('')
    if (status >= 400) expect(codesIn(described)).toContain((body as { readonly code: string }).code)
    return { status, headers, body }
  }
}

/** Headers that clients act upon, so the document must list them. */
const DOCUMENTED_HEADERS: readonly string[] = [
  'etag',
  'idempotent-replayed',
  'location',
  'next-cursor',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
]

/** A path that is not UTF-8 is rejected before routing; the document describes that once for all routes. */
function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function templateOf(path: string): string | undefined {
  const { paths } = document
  const [pathname = ''] = path.split('?')
  const fits = (template: string): boolean => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname)
  return pathname in paths ? pathname : Object.keys(paths).find(fits)
}

/** A JSON pointer token (RFC 6901) as part of a URI fragment. */
const escape = (token: string): string => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'))

const unescape = (token: string): string => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
