import { Cluster, type RedisOptions, Redis as Single } from 'ioredis'

type Form = 'single' | 'sentinel' | 'cluster'

export interface RedisAddress {
  readonly form: Form
  readonly tls: boolean
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly username?: string
  readonly password?: string
  /** Segments of the path: the database number; with sentinels, the name of the primary and then the database number. */
  readonly path: readonly string[]
}

export type RedisClient = Single | Cluster

export interface ConnectionOptions {
  readonly connection: Pick<
    RedisOptions,
    | 'connectionName'
    | 'connectTimeout'
    | 'disconnectTimeout'
    | 'maxLoadingRetryTime'
    | 'maxRetriesPerRequest'
    | 'reconnectOnError'
  >
  /** For the connections of a cluster. `watchReplies` drops the silent connections of any other form. */
  readonly clusterSocketTimeoutMs: number
  /** Certificates of the only accepted authorities (PEM). Absent: those that Node.js trusts. */
  readonly ca?: string
  readonly retryStrategy: (times: number) => number
  readonly scripts: Record<string, { lua: string }>
}

/** Parses URLs, which must all be of one form. The first URL supplies the login and the path. */
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

/**
 * Connects to the Redis at the URLs. No form resends a command that may already have been executed. A cluster's
 * redirections are safe to follow, because the node that redirects has not executed the command.
 */
export function connectTo(urls: string | readonly string[], options: ConnectionOptions): RedisClient {
  const all = [urls].flat()
  const { form, tls: isTls, nodes, path, ...login } = readAddress(all)
  const { connection, clusterSocketTimeoutMs, ca, retryStrategy, scripts } = options
  const tls = isTls && { tls: ca === undefined ? {} : { ca } }
  const shared = { enableOfflineQueue: false, scripts }
  switch (form) {
    case 'single':
      // ioredis parses the URL itself, because it supports more than `readAddress`, for example sockets.
      return new Single(all[0] ?? '', { ...connection, ...shared, ...tls, retryStrategy })
    case 'sentinel': {
      const [name = '', database = '0'] = path
      return new Single({
        ...connection,
        ...shared,
        ...login,
        ...tls,
        sentinels: [...nodes],
        name,
        db: Number(database),
        retryStrategy,
        sentinelRetryStrategy: retryStrategy,
        enableTLSForSentinelMode: isTls,
      })
    }
    case 'cluster':
      return new Cluster([...nodes], {
        ...shared,
        clusterRetryStrategy: retryStrategy,
        // 0 turns resending off.
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshInterval: 5_000,
        redisOptions: { ...connection, socketTimeout: clusterSocketTimeoutMs, ...login, ...tls },
        // Connect by host name, because certificates are issued for names.
        ...(isTls && { dnsLookup: (host, done) => done(null, host) }),
      })
  }
}
