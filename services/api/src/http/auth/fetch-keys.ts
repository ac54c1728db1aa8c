import { createPublicKey } from 'node:crypto'
import { compileSchema } from '@switchhook/contracts'
import { startDeadline } from '@switchhook/runtime'
import { type Dispatcher, fetch } from 'undici'
import type { Issuer } from './issuer.ts'

export interface Key {
  readonly kid?: string
  readonly kty: string
  readonly use?: string
  readonly alg?: string
  readonly [member: string]: unknown
}

export interface KeySet {
  readonly keys: readonly Key[]
  /** Keys of the provider that cannot be read, or are too many; tokens that are signed with them are refused. */
  readonly unreadable: number
}

const readMetadata = compileSchema<{ issuer: string; jwks_uri: string }>({
  type: 'object',
  required: ['issuer', 'jwks_uri'],
  properties: { issuer: { type: 'string' }, jwks_uri: { type: 'string', format: 'uri', pattern: '^https?://' } },
})

const readKeySet = compileSchema<{ readonly keys: readonly unknown[] }>({
  type: 'object',
  required: ['keys'],
  properties: { keys: { type: 'array' } },
})

const text = { type: 'string' } as const

const readKey = compileSchema<Key>({
  type: 'object',
  required: ['kty'],
  properties: { kty: text, kid: text, use: text, alg: text },
})

const MAX_BYTES = 1024 * 1024

/** Each costs 0.1 ms to read. Providers have a dozen. */
const MAX_KEYS = 100

const MAX_REDIRECTS = 3

interface Way {
  readonly dispatcher: Dispatcher
  readonly signal: AbortSignal
}

/**
 * Fetches the provider's current signing keys, over `connections`.
 * @throws Error if they cannot be fetched within `timeoutMs`, or if the answer holds no public signing key
 */
export async function fetchKeys(issuer: Issuer, timeoutMs: number, connections: Dispatcher): Promise<KeySet> {
  const late = new AbortController()
  const deadline = startDeadline(timeoutMs, () =>
    late.abort(new Error(`the identity provider did not answer within ${timeoutMs} ms`)),
  )
  const way = { dispatcher: connections, signal: late.signal }
  try {
    const uri = issuer.jwksUri ?? (await discover(issuer.issuer, way))
    const found = readKeySet(await fetchJson(uri, way))
    if (!found.ok) throw new Error('the key server did not answer with a JSON Web Key Set')
    const published = found.value.keys.slice(0, MAX_KEYS).map(keyOf)
    const readable = published.filter((key) => key !== undefined)
    const keys = readable.filter(({ kty, use }) => kty !== 'oct' && (use === undefined || use === 'sig'))
    // A provider without signing keys cannot have issued tokens, so an empty key set is a fault of the provider.
    if (keys.length === 0) throw new Error('the key server published no signing key that can be read')
    return { keys, unreadable: found.value.keys.length - readable.length }
  } finally {
    deadline.stop()
  }
}

/** OpenID Connect Discovery 1.0, section 4. */
async function discover(issuer: string, way: Way): Promise<string> {
  const metadata = readMetadata(await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, way))
  if (!metadata.ok) throw new Error('the discovery document does not name the key set')
  if (metadata.value.issuer !== issuer) throw new Error('the discovery document belongs to another issuer')
  return secureAs(issuer, metadata.value.jwks_uri)
}

/** @returns undefined: it has another form, or its numbers are no key */
function keyOf(published: unknown): Key | undefined {
  const read = readKey(published)
  if (!read.ok) return undefined
  // Symmetric keys are left out later.
  if (read.value.kty === 'oct') return read.value
  try {
    createPublicKey({ key: read.value, format: 'jwk' })
    return read.value
  } catch {
    return undefined
  }
}

/**
 * Where `from` leads to: whoever can change an answer over http could replace the keys.
 * @throws Error if it leaves https
 */
export function secureAs(from: string, to: string): string {
  const target = new URL(to, from)
  if (!['https:', 'http:'].includes(target.protocol) || (from.startsWith('https:') && target.protocol !== 'https:')) {
    throw new Error(`the identity provider leads from ${new URL(from).origin} to ${target.origin}, which is not https`)
  }
  return target.href
}

async function fetchJson(url: string, way: Way, redirects = 0): Promise<unknown> {
  const response = await fetch(url, { ...way, headers: { accept: 'application/json' }, redirect: 'manual' })
  const location = response.headers.get('location')
  if (response.status >= 300 && response.status < 400 && location !== null && redirects < MAX_REDIRECTS) {
    await response.body?.cancel()
    return fetchJson(secureAs(url, location), way, redirects + 1)
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new Error(`the identity provider answered ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error('the identity provider answered more than 1 MiB')
    chunks.push(chunk)
  }
  return JSON.parse(utf8.decode(Buffer.concat(chunks)))
}

/** Ignores a byte order mark, with which Windows' tools begin a file: some providers are files on a web server. */
const utf8 = new TextDecoder()
