import { type Field, FieldError, optional, requireReadableLogin } from '@switchhook/runtime'

export type EgressProxy = ReturnType<typeof parseProxyUrl>

/** Reads `http://user:password@proxy.example:3128`. Unset: there is no proxy. */
export const egressProxyField: Field<EgressProxy | undefined> = optional({ parse: parseProxyUrl, fallback: undefined })

function parseProxyUrl(raw: string) {
  const text = raw.trim()
  requireReadableLogin(text)
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname + url.search + url.hash !== '/') {
    throw new FieldError('must be a URL such as http://proxy.example:3128, without a path')
  }
  const { protocol, hostname, port, username, password } = url
  const isTls = protocol === 'https:'
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
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
