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

/** Calls the API as a client would, and holds every answer against the API's own document. */
export type CheckedClient = (method: string, path: string, request?: ClientRequest) => Promise<CheckedAnswer>

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>>
  >
}

/** @param document what the API itself serves */
export function createCheckedClient(baseUrl: string, document: Document): CheckedClient {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi.json')

  const check = (pointer: string, body: unknown): void => {
    const validate = ajv.getSchema(`openapi.json#${pointer}`) ?? ajv.compile({ $ref: `openapi.json#${pointer}` })
    if (!validate(body)) throw new Error(`the answer is not as documented: ${ajv.errorsText(validate.errors)}`)
  }

  const headersIn = (pointer: string): readonly string[] => {
    const steps = pointer.split('/').slice(1).map(unescape)
    const response = steps.reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], document)
    return Object.keys((response as { readonly headers?: object }).headers ?? {}).map((name) => name.toLowerCase())
  }

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
    const template = templateOf(document, path)
    if (template === undefined || status === 405 || !isUtf8(path)) return { status, headers, body }

    const at = `/paths/${escape(template)}/${method.toLowerCase()}/responses/${status}`
    const listed = document.paths[template]?.[method.toLowerCase()]?.responses[status]
    if (listed === undefined) throw new Error(`${method} ${template} may not answer ${status}: ${text}`)
    const described = '$ref' in listed ? String(listed.$ref).slice(1) : at
    const telling = TELLING.filter((name) => headers.has(name))
    expect([method, template, status, headersIn(described)]).toEqual([
      method,
      template,
      status,
      expect.arrayContaining(telling),
    ])
    if (type !== undefined) check(`${described}/content/${escape(type)}/schema`, body)
    else expect(text).toBe('')
    return { status, headers, body }
  }
}

/** What clients may act upon, so that the document has to know it. */
const TELLING: readonly string[] = [
  'idempotent-replayed',
  'link',
  'location',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
]

/** What is not is refused before a route is known, which the document says once for all. */
function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function templateOf({ paths }: Document, path: string): string | undefined {
  const [pathname = ''] = path.split('?')
  const fits = (template: string): boolean => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname)
  return pathname in paths ? pathname : Object.keys(paths).find(fits)
}

/** RFC 6901, then as part of a fragment. */
const escape = (token: string): string => encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'))

const unescape = (token: string): string => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
