import type { Config } from './config.ts'
import { amqpFields, amqpRules, redisFields, redisRules } from './connection-fields.ts'
import {
  choice,
  described,
  duration,
  type Field,
  flag,
  fraction,
  integer,
  networks,
  optional,
  port,
  text,
  url,
} from './fields.ts'

const OTLP_PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const

/**
 * OpenTelemetry's variables that decide what is loaded. The exporter reads the endpoint again, and the others (headers, certificates, timeout,
 * resource attributes) itself. https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const tracingFields = {
  OTEL_EXPORTER_OTLP_ENDPOINT: described(
    'Base URL of the OTLP collector, such as `http://collector:4318` ([tracing](tracing.md)). Unset: tracing is off.',
    optional(url(['http', 'https'])),
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: described(
    'Full URL for traces, such as `http://collector:4318/v1/traces`; overrides the base URL.',
    optional(url(['http', 'https'])),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: described(
    'How spans travel to the collector: `http/protobuf`, `http/json` or `grpc` (usually port 4317).',
    choice(OTLP_PROTOCOLS, 'http/protobuf'),
  ),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: described(
    'The protocol for traces; overrides the general one.',
    optional(choice(OTLP_PROTOCOLS)),
  ),
  OTEL_TRACES_EXPORTER: described('`none`: no traces are exported.', choice(['otlp', 'none'], 'otlp')),
  OTEL_SDK_DISABLED: described('`true`: OpenTelemetry is off, whatever else is set.', flag(false)),
  OTEL_TRACES_SAMPLER: described(
    'The OpenTelemetry sampler that decides which traces are exported.',
    choice(
      [
        'always_on',
        'always_off',
        'traceidratio',
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
      ],
      'parentbased_always_on',
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: described(
    'The share of traces that the `traceidratio` samplers export, 0 to 1.',
    fraction(1),
  ),
}

export type TracingConfig = Config<typeof tracingFields>

export const commonFields = {
  ...amqpFields,
  ...redisFields,
  NODE_ENV: described(
    '`production` refuses a Redis without AOF or with eviction, webhook URLs and issuers with `http`, `SECRET_KEYS` that are missing or can be guessed, and passwords that are public.',
    choice(['development', 'test', 'production'], 'development'),
  ),
  LOG_LEVEL: described('`error`, `warn`, `info` or `debug`.', choice(['error', 'warn', 'info', 'debug'], 'info')),
  SHUTDOWN_GRACE: described(
    'Time limit for finishing work after SIGTERM. Must exceed `DELIVERY_TIMEOUT`.',
    duration('30s'),
  ),
  LISTEN_HOST: described(
    'Address of this machine that the ports listen on, such as `127.0.0.1`.',
    optional(text()),
    'all addresses',
  ),
  HEALTH_PORT: described(
    'Port of `/healthz`, `/readyz` and `/metrics`, which need no token; 0: any free port.',
    port(9100),
  ),
  ...tracingFields,
}

/** Base images and debugging sessions leave it behind. Node.js then accepts any certificate, also of a forger. */
export const isTlsUnverified = (env: NodeJS.ProcessEnv = process.env): boolean =>
  env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'

export const commonRules = [...amqpRules, ...redisRules]

/**
 * Parts of libraries and of Node.js that print secrets when a variable names them: ioredis each command with its arguments,
 * and so the password; Node.js headers, bodies, and urls with their queries.
 */
const SECRETIVE = {
  DEBUG: ['ioredis:redis'],
  NODE_DEBUG: ['http', 'https', 'net', 'stream', 'undici', 'fetch', 'websocket'],
} as const

/** The part that a value turns on and that prints secrets. The value has names with wildcards, separated by spaces or commas. */
export function secretivePart(variable: keyof typeof SECRETIVE, value: string): string | undefined {
  const names = value.toLowerCase().split(/[\s,]/)
  return SECRETIVE[variable].find((part) => names.some((name) => covers(name, part)))
}

function covers(name: string, part: string): boolean {
  const pieces = name.split('*')
  const [first = '', last = ''] = [pieces.at(0), pieces.at(-1)]
  return pieces.length === 1 ? name === part : part.startsWith(first) && part.endsWith(last)
}

const noSecretsInDebug = (): string | undefined => {
  for (const variable of ['DEBUG', 'NODE_DEBUG'] as const) {
    const part = secretivePart(variable, process.env[variable] ?? '')
    if (part !== undefined) return `${variable} turns on ${part}, which writes secrets to the log; name other parts`
  }
  return undefined
}

const tlsVerifiedInProduction = ({ NODE_ENV }: { readonly NODE_ENV: string }): string | undefined =>
  NODE_ENV === 'production' && isTlsUnverified()
    ? 'NODE_TLS_REJECT_UNAUTHORIZED is 0, so forged certificates would be accepted; unset it (AMQP_CA_FILE, REDIS_CA_FILE and NODE_EXTRA_CA_CERTS name authorities of your own)'
    : undefined

/** The exporters of traces read the variables themselves, and have no switch that turns the check on again. */
const collectorVerified = (): string | undefined => {
  const name = ['OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE', 'OTEL_EXPORTER_OTLP_CERTIFICATE'].find(
    (one) => process.env[one],
  )
  return name !== undefined && isTlsUnverified()
    ? `NODE_TLS_REJECT_UNAUTHORIZED is 0, so the authority in ${name} would not be checked; unset one of the two`
    : undefined
}

/** What each program of this project checks when it starts: the services and the commands of operators. */
export const startFields = { NODE_ENV: commonFields.NODE_ENV }
export const startRules = [tlsVerifiedInProduction, collectorVerified, noSecretsInDebug]

/** Variables that several services read, with the same meaning in each. */
export const sharedFields = {
  DELIVERY_RETENTION: described(
    'How long an acknowledged delivery can be looked up; about 0.6 KB of Redis memory each.',
    duration('1h', { minMs: 60_000 }),
  ),
  EVENT_JOURNAL_SIZE: described(
    'Events kept per tenant with their data, to show, stream and send them again; about 1.2 KB of Redis memory each; `0` turns the journal off ([journal](journal.md)).',
    integer({ min: 0, max: 1_000_000 }, 20_000),
  ),
  EVENT_JOURNAL_RETENTION: described(
    'How long the journal keeps an event ([journal](journal.md)).',
    duration('24h', { minMs: 60_000, maxMs: 365 * 86_400_000 }),
  ),
  PARKED_LIMIT_PER_SUBSCRIPTION: described(
    'Parked deliveries of one subscription that keep their body; the same number of older ones is kept without it ([notices](notices.md#parked-deliveries)). As many may be [held](held.md). One of over 8 KB counts once for each 8 KB ([limits](limits.md#what-a-tenant-can-store)).',
    integer({ min: 1, max: 100_000_000 }, 100_000),
  ),
  STATISTICS_SUBSCRIPTIONS: described(
    'Subscriptions of one tenant that have statistics of their own at a time; about 0.1 MB of Redis memory each. The tenant as a whole always has statistics ([statistics](statistics.md)).',
    integer({ min: 0, max: 100_000 }, 500),
  ),
  WEBHOOK_ALLOWED_NETWORKS: described(
    'Private networks (CIDRs) that webhooks may be sent to. Without it, only public addresses are allowed.',
    networks(''),
    'none',
  ),
}

/** `DELIVERY_SHARDS` of fan-out and of the workers. `most` is the topology's limit. */
export const deliveryShardsField = (most: number): Field<number> =>
  described(
    'Number of queues for due deliveries, and for each wait. Fan-out and workers must have the same value ([scaling](scaling.md#shards)).',
    integer({ min: 1, max: most }, 1),
  )

/** `EVENT_SHARDS` of the api and of fan-out. `most` is the topology's limit. */
export const eventShardsField = (most: number): Field<number> =>
  described(
    'Number of queues for events. The api and fan-out must have the same value ([scaling](scaling.md#shards)).',
    integer({ min: 1, max: most }, 1),
  )
