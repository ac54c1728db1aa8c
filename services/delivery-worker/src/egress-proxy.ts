import { type Field, FieldError, optional } from '@switchhook/runtime'

export type EgressProxy = ReturnType<typeof parseProxyUrl>

/** Reads `http://user:password@proxy.example:3128`. Unset: there is no proxy. */
export const egressProxyField: Field<EgressProxy | undefined> = optional({ parse: parseProxyUrl, fallback: undefined })

function parseProxyUrl(raw: string) {
  const url = URL.parse(raw)
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname + url.search + url.hash !== '/') {
    throw new FieldError('must be a URL such as http://proxy.example:3128, without a path')
  }
  const { protocol, hostname, port, username, password } = url
  const isTls = protocol === 'https:'
  const login = `${decoded(username)}:${decoded(password)}`
  return {
    /** Whether the connection to the proxy itself uses TLS. */
    isTls,
    /** A name, or an address without brackets. */
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (isTls ? 443 : 80)),
    /** The value of `Proxy-Authorization`. A secret: never logged. */
    ...(login !== ':' && { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new FieldError('must have its user and password percent-encoded: %25 for a percent sign')
  }
}
