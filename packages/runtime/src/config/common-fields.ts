import { tracingFields } from '../tracing/tracing-fields.ts'
import { choice, described, duration, type Field, integer, networks, port, urls } from './fields.ts'

/** One Redis; or, beginning with any of several, the primary that sentinels name, or a cluster. */
const redisUrls = (): Field<readonly string[]> =>
  urls(['redis', 'rediss', 'redis+sentinel', 'rediss+sentinel', 'redis+cluster', 'rediss+cluster'], {
    alone: ['redis', 'rediss'],
  })

/** The variables that every service reads. */
export const commonFields = {
  AMQP_URL: described(
    'RabbitMQ, `amqp://` or `amqps://`. Separate the nodes of a cluster with commas ([scaling](scaling.md)).',
    urls(['amqp', 'amqps']),
  ),
  REDIS_URL: described(
    'Redis, `redis://` or `rediss://`; also Sentinel and Cluster ([scaling](scaling.md)).',
    redisUrls(),
  ),
  NODE_ENV: described(
    '`production` refuses a Redis without AOF or with eviction, http webhook urls, and a missing `SECRET_KEYS`.',
    choice(['development', 'test', 'production'], 'development'),
  ),
  LOG_LEVEL: described('`error`, `warn`, `info` or `debug`.', choice(['error', 'warn', 'info', 'debug'], 'info')),
  SHUTDOWN_GRACE: described(
    'How long a process may take to finish its work after SIGTERM. Must exceed `DELIVERY_TIMEOUT`.',
    duration('30s'),
  ),
  HEALTH_PORT: described(
    'Port of `/healthz`, `/readyz` and `/metrics`, without a token; 0: any free port.',
    port(9100),
  ),
  ...tracingFields,
}

/** Variables that more than one service reads: the same name means the same everywhere. */
export const sharedFields = {
  DELIVERY_RETENTION: described(
    'How long an acknowledged delivery can be looked up; about 0.6 KB of Redis memory each.',
    duration('1h', { minMs: 60_000 }),
  ),
  PARKED_LIMIT_PER_SUBSCRIPTION: described(
    'Parked deliveries of one subscription that keep their body; as many older ones are kept without it ([notices](notices.md#parked-deliveries)).',
    integer({ min: 1, max: 100_000_000 }, 100_000),
  ),
  WEBHOOK_ALLOWED_NETWORKS: described(
    'Networks (CIDRs) inside your own network that webhooks may go to. Without it, only public addresses are allowed.',
    networks(''),
    'none',
  ),
}

/** `DELIVERY_SHARDS` of fan-out and of the workers. `most` is the topology's limit. */
export const deliveryShardsField = (most: number): Field<number> =>
  described(
    'Number of queues for due deliveries. Fan-out and workers must have the same value ([scaling](scaling.md)).',
    integer({ min: 1, max: most }, 1),
  )
