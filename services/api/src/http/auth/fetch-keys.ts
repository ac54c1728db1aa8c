import { compileSchema } from '@switchhook/contracts'
import { startDeadline } from '@switchhook/runtime'
import type { Issuer } from './issuer.ts'

interface Key {
  readonly kid?: string
  readonly kty: string
  readonly use?: string
  readonly [member: string]: unknown
}

export interface KeySet {
  readonly keys: Key[]
}

const readMetadata = compileSchema<{ issuer: string; jwks_uri: string }>({
  type: 'object',
  required: ['issuer', 'jwks_uri'],
  properties: { issuer: { type: 'string' }, jwks_uri: { type: 'string', format: 'uri', pattern: '^https?://' } },
})

const readKeySet = compileSchema<KeySet>({
  type: 'object',
  required: ['keys'],
  properties: {
    keys: {
      type: 'array',
      items: { type: 'object', required: ['kty'], properties: { kty: { type: 'string' }, kid: { type: 'string' } } },
    },
  },
})

/** Enough for several hundred keys. */
const MAX_BYTES = 1024 * 1024

/**
 * Fetches the provider's current signing keys.
 * @throws Error if they cannot be fetched within `timeoutMs`, or if the answer holds no public signing key
 */
export async function fetchKeys(issuer: Issuer, timeoutMs: number): Promise<KeySet> {
  const late = new AbortController()
  const deadline = startDeadline(timeoutMs, () =>
    late.abort(new Error(`the identity provider did not answer within ${timeoutMs} ms`)),
  )
  try {
    const uri = issuer.jwksUri ?? (await discover(issuer.issuer, late.signal))
    const found = readKeySet(await fetchJson(uri, late.signal))
    if (!found.ok) throw new Error('the key server did not answer with a JSON Web Key Set')
    const keys = found.value.keys.filter(({ kty, use }) => kty !== 'oct' && (use === undefined || use === 'sig'))
    // A provider without signing keys cannot have issued tokens, so an empty key set is a fault of the provider.
    if (keys.length === 0) throw new Error('the key server published no signing key')
    return { keys }
  } finally {
    deadline.stop()
  }
}

/** OpenID Connect Discovery 1.0, section 4. */
async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const metadata = readMetadata(
    await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal),
  )
  if (!metadata.ok) throw new Error('the discovery document does not name the key set')
  if (metadata.value.issuer !== issuer) throw new Error('the discovery document belongs to another issuer')
  return metadata.value.jwks_uri
}

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, { signal, headers: { accept: 'application/json' } })
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
  return JSON.parse(Buffer.concat(chunks).toString())
}
