type Form = 'single' | 'sentinel' | 'cluster'

/** Where a Redis is, and how it is spoken to. */
export interface RedisAddress {
  readonly form: Form
  readonly tls: boolean
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly username?: string
  readonly password?: string
  /** Of the path: a database's number, or with sentinels the name of the primary and then the number. */
  readonly path: readonly string[]
}

/** Reads urls of one form; login and path are the first one's. */
export function readAddress(urls: readonly string[]): RedisAddress {
  const parsed = urls.map((url) => new URL(url))
  const [first] = parsed
  if (first === undefined) throw new Error('no address of Redis')
  const [scheme, form = 'single'] = first.protocol.slice(0, -1).split('+')
  const port = form === 'sentinel' ? 26_379 : 6_379
  return {
    form: form as Form,
    tls: scheme === 'rediss',
    nodes: parsed.map((url) => ({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || port) })),
    ...(first.username !== '' && { username: decodeURIComponent(first.username) }),
    ...(first.password !== '' && { password: decodeURIComponent(first.password) }),
    path: first.pathname.split('/').filter(Boolean),
  }
}
