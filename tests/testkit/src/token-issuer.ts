import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Algorithm = 'RS256' | 'ES256'

interface TokenOptions {
  readonly alg?: Algorithm
  /** Seconds from now; may be negative. One hour by default. */
  readonly expiresInS?: number
  /** Replaces the key id in the header; an explicit undefined omits it. */
  readonly kid?: string | undefined
  /**
   * none: no signature. HS256: signed with the public key as a shared secret. stranger: signed with a key that was never
   * published. tampered: claims changed after signing.
   */
  readonly forgery?: 'none' | 'HS256' | 'stranger' | 'tampered'
}

export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

type Keys = Readonly<Record<Algorithm, SigningKey>>

/**
 * Starts an identity provider that publishes signing keys and issues valid and forged tokens, over HTTP on a free loopback
 * port, with discovery at `/.well-known/openid-configuration`.
 */
export async function startTokenIssuer({ audience = 'switchhook' } = {}) {
  let keys = takeKeys()
  let jwksRequests = 0
  let port = 0

  const server = createServer((request, response) => {
    const answer = (body: object): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    switch (request.url) {
      case '/jwks':
        jwksRequests += 1
        return answer({ keys: Object.entries(keys).map(([alg, key]) => toJwk(alg, key)) })
      case '/.well-known/openid-configuration':
        return answer({ issuer: issuer(), jwks_uri: `${issuer()}/jwks`, token_endpoint: `${issuer()}/token` })
      default:
        return void response.writeHead(404).end()
    }
  })
  const issuer = (): string => `http://127.0.0.1:${port}`
  const start = async (): Promise<void> => {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    port = (server.address() as AddressInfo).port
  }
  const stop = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  await start()

  return {
    issuer: issuer(),
    audience,
    jwksUri: `${issuer()}/jwks`,
    /** Claims with the value undefined are omitted. */
    token: (claims: Readonly<Record<string, unknown>> = {}, tokenOptions: TokenOptions = {}): string => {
      const now = Math.floor(Date.now() / 1_000)
      const exp = now + (tokenOptions.expiresInS ?? 3_600)
      const standard = { iss: issuer(), aud: audience, sub: 'test-client', iat: now, exp }
      return makeToken({ ...standard, ...claims }, tokenOptions, keys)
    },
    /** Replaces the keys: new tokens are signed with new keys, and only those are published. */
    rotateKeys: (): void => {
      keys = takeKeys()
    },
    jwksRequests: (): number => jwksRequests,
    /** Stops the key server; `start` restarts it at the same address. */
    stop,
    start,
    close: async (): Promise<void> => {
      await stop()
      free.push(keys)
    },
  }
}

/** Keys of closed issuers, for the next ones: to make an RSA key takes up to half a second. */
const free: Keys[] = []

const takeKeys = (): Keys => free.pop() ?? makeKeys()

const makeKeys = (): Keys => ({
  RS256: { kid: `rsa-${randomUUID()}`, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) },
  ES256: { kid: `ec-${randomUUID()}`, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
})

const toJwk = (alg: string, { kid, publicKey }: SigningKey): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  alg,
  use: 'sig',
})

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function makeToken(claims: object, options: TokenOptions, keys: Keys): string {
  const alg = options.alg ?? 'RS256'
  const key = keys[alg]
  const kid = 'kid' in options ? options.kid : key.kid
  const signedAs = options.forgery === 'none' || options.forgery === 'HS256' ? options.forgery : alg
  const head = encode({ typ: 'at+jwt', alg: signedAs, kid })
  const input = `${head}.${encode(claims)}`
  switch (options.forgery) {
    case 'none':
      return `${input}.`
    case 'HS256': {
      const secret = key.publicKey.export({ type: 'spki', format: 'pem' })
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
    }
    case 'stranger':
      return `${input}.${signature(input, alg, makeKeys()[alg])}`
    case 'tampered':
      return `${head}.${encode({ ...claims, sub: 'somebody-else' })}.${signature(input, alg, key)}`
    default:
      return `${input}.${signature(input, alg, key)}`
  }
}

function signature(input: string, alg: Algorithm, { privateKey }: SigningKey): string {
  // JWS encodes an ECDSA signature as the concatenation of its two numbers, not in DER (RFC 7518, section 3.4).
  const key = alg === 'ES256' ? { key: privateKey, dsaEncoding: 'ieee-p1363' as const } : privateKey
  return sign('sha256', Buffer.from(input), key).toString('base64url')
}
