import { backoffMs } from '@switchhook/runtime'
import { Cluster, Redis as Single } from 'ioredis'
import { REPLY_LIMITS } from './replies.ts'
import { loadScripts } from './scripts.ts'

export type RedisClient = Single | Cluster

export const reconnectWaitMs = (tries: number): number => backoffMs(tries, 50, 2_000)

/** Parses URLs, which must all be of one form. The first URL supplies the login and the path. */
export function readAddress(urls: readonly string[]) {
  const parsed = urls.map((url) => new URL(url))
  const [first] = parsed
  if (first === undefined) throw new Error('no address of Redis')
  const [scheme, form = 'single'] = first.protocol.slice(0, -1).split('+')
  const port = form === 'sentinel' ? 26_379 : 6_379
  return {
    form: form as 'single' | 'sentinel' | 'cluster',
    tls: scheme === 'rediss',
    nodes: parsed.map((url) => ({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || port) })),
    ...(first.username !== '' && { username: decodeURIComponent(first.username) }),
    ...(first.password !== '' && { password: decodeURIComponent(first.password) }),
    /** Segments of the path: the database number; with sentinels, the name of the primary and then the database number. */
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
  // Named, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not turn the check off.
  const tls = isTls && { tls: { rejectUnauthorized: true, ...(ca !== undefined && { ca }) } }
  const shared = { enableOfflineQueue: false, scripts: loadScripts() }
  const connection = {
    connectionName,
    connectTimeout: REPLY_LIMITS.replyMs,
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
      return keepToDatabase(new Single(all[0] ?? '', alone))
    case 'sentinel': {
      const [name = '', database = '0'] = path
      const client = new Single({
        ...alone,
        ...login,
        sentinels: nodes,
        name,
        db: Number(database),
        sentinelRetryStrategy: reconnectWaitMs,
        enableTLSForSentinelMode: isTls,
        // Without it, ioredis asks the sentinels in clear text, and anyone on the way could name the primary.
        ...(tls && { sentinelTLS: tls.tls }),
      })
      return keepToDatabase(client)
    }
    case 'cluster':
      return new Cluster(nodes, {
        ...shared,
        clusterRetryStrategy: reconnectWaitMs,
        // 0 turns resending off.
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshInterval: 5_000,
        // `watchReplies` drops the silent connections of any other form.
        redisOptions: { ...connection, socketTimeout: REPLY_LIMITS.silenceMs, ...login, ...tls },
        // Connect by host name, because certificates are issued for names.
        ...(isTls && { dnsLookup: (host, done) => done(null, host) }),
      })
  }
}

/** If Redis refuses the database, ioredis would use database 0, which may be that of another installation. */
const keepToDatabase = (client: Single): Single =>
  client.on('error', ({ command }: { readonly command?: { readonly name: string } }) => {
    if (command?.name === 'select') client.disconnect(true)
  })
