import { backoffMs } from '@switchhook/runtime'
import { Cluster, Redis as Single } from 'ioredis'
import { loadScripts } from './scripts.ts'

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

/** How long a caller waits for a Redis that accepts connections but answers nothing. */
export const COMMAND_TIMEOUT_MS = 3_000
/** A connection without a reply for this long is dropped. TCP itself would keep it for about 15 minutes. */
export const SOCKET_TIMEOUT_MS = 6_000

export const reconnectWaitMs = (tries: number): number => backoffMs(tries, 50, 2_000)

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
export function connectTo(
  urls: string | readonly string[],
  { name: connectionName, ca }: { readonly name: string; readonly ca?: string },
): RedisClient {
  const all = [urls].flat()
  const { form, tls: isTls, nodes, path, ...login } = readAddress(all)
  const tls = isTls && { tls: ca === undefined ? {} : { ca } }
  const shared = { enableOfflineQueue: false, scripts: loadScripts() }
  const connection = {
    connectionName,
    connectTimeout: COMMAND_TIMEOUT_MS,
    disconnectTimeout: 500,
    maxLoadingRetryTime: 1_000,
    maxRetriesPerRequest: 0,
    // A demoted primary keeps its connections open. Connecting again may reach the new primary.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  }
  const alone = { ...connection, ...shared, ...tls, retryStrategy: reconnectWaitMs }
  switch (form) {
    case 'single':
      // ioredis parses the URL itself, because it supports more than `readAddress`, for example sockets.
      return new Single(all[0] ?? '', alone)
    case 'sentinel': {
      const [name = '', database = '0'] = path
      return new Single({
        ...alone,
        ...login,
        sentinels: [...nodes],
        name,
        db: Number(database),
        sentinelRetryStrategy: reconnectWaitMs,
        enableTLSForSentinelMode: isTls,
      })
    }
    case 'cluster':
      return new Cluster([...nodes], {
        ...shared,
        clusterRetryStrategy: reconnectWaitMs,
        // 0 turns resending off.
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshInterval: 5_000,
        // `watchReplies` drops the silent connections of any other form.
        redisOptions: { ...connection, socketTimeout: SOCKET_TIMEOUT_MS, ...login, ...tls },
        // Connect by host name, because certificates are issued for names.
        ...(isTls && { dnsLookup: (host, done) => done(null, host) }),
      })
  }
}
