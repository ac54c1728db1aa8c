import { Cluster, type RedisOptions, Redis as Single } from 'ioredis'
import { readAddress } from './address.ts'

/** A connection of the library's, to whichever form of Redis. */
export type RedisClient = Single | Cluster

/** What holds for every connection, to whichever form of Redis. */
export interface ConnectionOptions {
  readonly connection: Pick<
    RedisOptions,
    | 'commandTimeout'
    | 'connectionName'
    | 'connectTimeout'
    | 'disconnectTimeout'
    | 'maxLoadingRetryTime'
    | 'maxRetriesPerRequest'
    | 'reconnectOnError'
    | 'socketTimeout'
  >
  readonly retryStrategy: (times: number) => number
  readonly scripts: Record<string, { lua: string }>
}

/**
 * Connects to what the urls say. A command whose fate is unknown is never sent again, in none of the forms: a cluster's
 * redirections are answers of a node that has not carried it out.
 */
export function connectTo(urls: string | readonly string[], options: ConnectionOptions): RedisClient {
  const all = [urls].flat()
  const address = readAddress(all)
  const { connection, retryStrategy, scripts } = options
  const shared = { enableOfflineQueue: false, scripts }
  const login = {
    ...(address.username !== undefined && { username: address.username }),
    ...(address.password !== undefined && { password: address.password }),
    ...(address.tls && { tls: {} }),
  }
  switch (address.form) {
    case 'single':
      // The library's own reading of a url knows more, sockets for example.
      return new Single(all[0] ?? '', { ...connection, ...shared, enableAutoPipelining: true, retryStrategy })
    case 'sentinel': {
      const [name = '', database = '0'] = address.path
      return new Single({
        ...connection,
        ...shared,
        ...login,
        enableAutoPipelining: true,
        sentinels: [...address.nodes],
        name,
        db: Number(database),
        retryStrategy,
        sentinelRetryStrategy: retryStrategy,
        enableTLSForSentinelMode: address.tls,
      })
    }
    case 'cluster':
      // Without pipelines of the library's making: it takes a script's number of keys for its key, and mixes slots.
      return new Cluster([...address.nodes], {
        ...shared,
        clusterRetryStrategy: retryStrategy,
        // Not sent again behind the caller's back.
        retryDelayOnFailover: 0,
        retryDelayOnClusterDown: 0,
        slotsRefreshInterval: 5_000,
        redisOptions: { ...connection, ...login },
        // Certificates are made out to names.
        ...(address.tls && { dnsLookup: (host, done) => done(null, host) }),
      })
  }
}
