import { X509Certificate } from 'node:crypto'
import type { Config, Rule } from './config.ts'
import {
  choice,
  described,
  type Field,
  FieldError,
  file,
  integer,
  isPercentEncoded,
  optional,
  secret,
  secretFile,
  urls,
} from './fields.ts'

export interface ServerAddress {
  /** With user and password. Several URLs are the nodes of one cluster. */
  readonly url: readonly string[]
  /** Certificates of authorities (PEM). Absent: the authorities that Node.js trusts. */
  readonly ca?: string
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates in a PEM file; undefined: none is configured. */
export const authorityFile = (): Field<string | undefined> =>
  optional(
    file((content) => {
      const certificates = content.match(CERTIFICATE) ?? []
      if (certificates.length === 0 || !certificates.every(isCertificate)) {
        throw new FieldError('must be certificates in PEM format')
      }
      return certificates.join('\n')
    }),
  )

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

export const amqpFields = {
  AMQP_URL: described(
    'RabbitMQ, `amqp://` or `amqps://`. Separate the nodes of a cluster with commas ([scaling](scaling.md)).',
    urls(['amqp', 'amqps']),
  ),
  AMQP_USERNAME: described('User for RabbitMQ, if `AMQP_URL` contains none.', optional(secret())),
  AMQP_PASSWORD: described('Password for RabbitMQ, if `AMQP_URL` contains none.', optional(secret())),
  AMQP_PASSWORD_FILE: described('Path of a file with this password.', optional(secretFile())),
  AMQP_CA_FILE: described(
    'Path of a PEM file: only certificates of these authorities are accepted from RabbitMQ ([security](security.md#tls-to-rabbitmq-and-redis)).',
    authorityFile(),
    'the authorities that Node.js trusts',
  ),
  AMQP_NODES: described(
    'Nodes of RabbitMQ that must run before the queues of a new installation are declared ([scaling](scaling.md#members-of-the-queues)).',
    optional(integer({ min: 1, max: 100 })),
    'as many as `AMQP_URL` names, at most 3',
  ),
  AMQP_DECLARE: described(
    'Queues that the service declares: `all`, or `own`: those that [its own user](security.md#users-of-rabbitmq) may declare. It then waits until other services have declared the rest.',
    choice(['all', 'own'], 'all'),
  ),
}

export const redisFields = {
  REDIS_URL: described(
    'Redis, `redis://` or `rediss://`; also Sentinel and Cluster ([scaling](scaling.md)).',
    // A single Redis, several sentinels, or several nodes of a cluster.
    urls(['redis', 'rediss', 'redis+sentinel', 'rediss+sentinel', 'redis+cluster', 'rediss+cluster'], {
      alone: ['redis', 'rediss'],
    }),
  ),
  REDIS_PASSWORD: described('Password for Redis, if `REDIS_URL` contains none.', optional(secret())),
  REDIS_PASSWORD_FILE: described('Path of a file with this password.', optional(secretFile())),
  REDIS_CA_FILE: described(
    'Path of a PEM file: only certificates of these authorities are accepted from Redis ([security](security.md#tls-to-rabbitmq-and-redis)).',
    authorityFile(),
    'the authorities that Node.js trusts',
  ),
  REDIS_DURABILITY: described(
    'In production: `checked` starts only on a Redis whose settings show that it keeps its data; `attested` is for a managed Redis that does not show them ([managed services](capacity.md#managed-redis)).',
    choice(['checked', 'attested'], 'checked'),
  ),
}

export type AmqpConfig = Config<typeof amqpFields>
export type RedisConfig = Config<typeof redisFields>

/** The default of RabbitMQ for the number of members of a quorum queue, if enough nodes run. */
const MEMBERS = 3

const hasPassword = (url: string): boolean => new URL(url).password !== ''
const hasUser = (url: string): boolean => new URL(url).username !== ''
const isPlain = (url: string): boolean => !/^(amqps|rediss)\b/.test(url)

/** The parameters of a URL that are taken, with the values that work. */
type Parameters = Readonly<Record<string, (value: string) => boolean>>

const isNumberWithin =
  (...ranges: readonly (readonly [min: number, max: number])[]) =>
  (value: string): boolean =>
    /^\d{1,10}$/.test(value) && ranges.some(([min, max]) => Number(value) >= min && Number(value) <= max)

const MAX_UINT16 = 65_535

/**
 * The least that RabbitMQ must accept in a frame, which holds all headers of a message: RabbitMQ closes the connection on a larger
 * one. The largest are of the quarantine: 16,384 characters of a sender's headers (48 KiB), then the other properties and our
 * own headers. Those of a delivery reach 11 KiB. RabbitMQ's default is 128 KiB.
 */
export const MIN_FRAME_BYTES = 65_536

const AMQP_PARAMETERS: Parameters = {
  // In seconds.
  heartbeat: isNumberWithin([0, MAX_UINT16]),
  // A worker consumes each of its queues by a channel of its own: 150 with the most shards. 0: RabbitMQ's limit.
  channelMax: isNumberWithin([0, 0], [256, MAX_UINT16]),
  // 0: RabbitMQ's limit.
  frameMax: isNumberWithin([0, 0], [MIN_FRAME_BYTES, 2 ** 32 - 1]),
}

/** Of a single Redis: which addresses of its name are used. */
const REDIS_PARAMETERS: Parameters = { family: isNumberWithin([0, 0], [4, 4], [6, 6]) }

/** A client library reads each parameter as one of its options; a wrong one is retried for ever, or never connects. */
function parameterProblem(name: string, urls: readonly string[], taken: Parameters): string | undefined {
  for (const [parameter, value] of urls.flatMap((url) => [...new URL(url).searchParams])) {
    const isValid = Object.hasOwn(taken, parameter) ? taken[parameter] : undefined
    if (isValid === undefined) {
      const known = Object.keys(taken).join(', ') || 'none'
      return `${name} has the parameter ${JSON.stringify(parameter.slice(0, 40))}; the parameters that are taken: ${known}`
    }
    if (!isValid(value)) return `${name} has a value of the parameter ${parameter} that does not work`
  }
  return undefined
}

type ServerConfig = Partial<AmqpConfig & RedisConfig>

type NodeEnv = { readonly NODE_ENV: Field<string> }

/** @param name the prefix of the server's variables */
const serverOf = (name: 'AMQP' | 'REDIS', config: ServerConfig) => ({
  url: config[`${name}_URL`] ?? [],
  username: name === 'AMQP' ? config.AMQP_USERNAME : undefined,
  password: config[`${name}_PASSWORD`] ?? config[`${name}_PASSWORD_FILE`],
  ca: config[`${name}_CA_FILE`],
})

function addressProblem(name: 'AMQP' | 'REDIS', config: ServerConfig): string | undefined {
  const { url, password, ca } = serverOf(name, config)
  if (config[`${name}_PASSWORD`] !== undefined && config[`${name}_PASSWORD_FILE`] !== undefined) {
    return `${name}_PASSWORD and ${name}_PASSWORD_FILE are both set; use one of them`
  }
  if (password !== undefined && url.some(hasPassword)) {
    return `${name}_URL must not contain a password if ${name}_PASSWORD or ${name}_PASSWORD_FILE is set`
  }
  if (ca !== undefined && url.some(isPlain)) {
    return `${name}_CA_FILE needs TLS: every URL in ${name}_URL must start with ${name === 'AMQP' ? 'amqps:' : 'rediss'}`
  }
  return undefined
}

/**
 * Not secrets: the password of RabbitMQ's first user, those of docker-compose.yml and of the Helm chart for development, and the
 * placeholder of infra/helm/examples/secrets.yaml.
 */
const PUBLIC_PASSWORDS: ReadonlySet<string | undefined> = new Set(['guest', 'switchhook', 'CHANGE-ME'])

/** Also of a server on this machine: its ports may be open to others. */
function publicPassword(name: 'AMQP' | 'REDIS', config: ServerConfig & Config<NodeEnv>): string | undefined {
  if (config.NODE_ENV !== 'production') return undefined
  const urls = serverOf(name, config).url.map((url) => new URL(url))
  const known = ([`${name}_PASSWORD`, `${name}_PASSWORD_FILE`] as const).find((one) =>
    PUBLIC_PASSWORDS.has(config[one]),
  )
  if (known === undefined && !urls.some(({ password }) => PUBLIC_PASSWORDS.has(decodeURIComponent(password)))) {
    return undefined
  }
  return `${known ?? `${name}_URL`} has a password that is public; give ${name === 'AMQP' ? 'RabbitMQ' : 'Redis'} one of its own`
}

export const amqpRules: readonly Rule<typeof amqpFields & NodeEnv>[] = [
  (config) => addressProblem('AMQP', config),
  (config) => publicPassword('AMQP', config),
  // RabbitMQ's first user has a public password, too.
  ({ NODE_ENV, AMQP_USERNAME, AMQP_URL }) =>
    NODE_ENV === 'production' && AMQP_USERNAME === undefined && !AMQP_URL.every(hasUser)
      ? 'AMQP_URL needs a user and a password in production: without them, RabbitMQ is asked for its public user guest'
      : undefined,
  ({ AMQP_URL }) =>
    AMQP_URL.every((url) => isPercentEncoded(new URL(url).pathname))
      ? undefined
      : 'AMQP_URL must have its virtual host percent-encoded, such as %25 for %',
  ({ AMQP_URL }) => parameterProblem('AMQP_URL', AMQP_URL, AMQP_PARAMETERS),
  (config) =>
    config.AMQP_USERNAME !== undefined && config.AMQP_URL.some(hasUser)
      ? 'AMQP_URL must not contain a user if AMQP_USERNAME is set'
      : undefined,
  ({ AMQP_PASSWORD, AMQP_PASSWORD_FILE, AMQP_USERNAME, AMQP_URL }) =>
    (AMQP_PASSWORD ?? AMQP_PASSWORD_FILE) !== undefined && AMQP_USERNAME === undefined && !AMQP_URL.every(hasUser)
      ? 'AMQP_USERNAME is required if AMQP_PASSWORD or AMQP_PASSWORD_FILE is set and AMQP_URL contains no user'
      : undefined,
  ({ AMQP_NODES, AMQP_URL }) =>
    AMQP_NODES !== undefined && AMQP_NODES > AMQP_URL.length
      ? `AMQP_NODES is ${AMQP_NODES}, but AMQP_URL names only ${AMQP_URL.length}: list every node that must run`
      : undefined,
]

/** The path of `REDIS_URL`: a database, for sentinels after the name of the primary. A cluster has only database 0. */
const PATHS: Readonly<Record<string, RegExp>> = { sentinel: /^\/[^/]+(\/\d*)?$/, cluster: /^(\/0?)?$/ }
const DATABASE = /^(\/\d*)?$/

export const redisRules: readonly Rule<typeof redisFields & NodeEnv>[] = [
  (config) => addressProblem('REDIS', config),
  (config) => publicPassword('REDIS', config),
  ({ REDIS_URL }) =>
    parameterProblem('REDIS_URL', REDIS_URL, REDIS_URL.some((url) => /^rediss?:/.test(url)) ? REDIS_PARAMETERS : {}),
  ({ REDIS_URL: [first = ''] }) => {
    const { protocol, pathname } = new URL(first)
    const form = protocol.slice(0, -1).split('+')[1] ?? ''
    return (PATHS[form] ?? DATABASE).test(pathname)
      ? undefined
      : 'REDIS_URL must end in the number of a database, such as /0, with sentinels in /<name of the primary>/0, and with a cluster in no other than /0'
  },
]

/** The address of RabbitMQ, and how many of its nodes must run before the queues of a new installation are declared. */
export const amqpAddress = (config: AmqpConfig): ServerAddress & { readonly formedBy: number } => ({
  ...addressOf('AMQP', config),
  formedBy: config.AMQP_NODES ?? Math.min(config.AMQP_URL.length, MEMBERS),
})

export const redisAddress = (config: RedisConfig): ServerAddress => addressOf('REDIS', config)

function addressOf(name: 'AMQP' | 'REDIS', config: ServerConfig): ServerAddress {
  const { url, username, password, ca } = serverOf(name, config)
  const withLogin = (each: string): string => {
    const parsed = new URL(each)
    if (username !== undefined) parsed.username = encodeURIComponent(username)
    if (password !== undefined) parsed.password = encodeURIComponent(password)
    return parsed.href
  }
  const isGiven = username !== undefined || password !== undefined
  return { url: isGiven ? url.map(withLogin) : url, ...(ca !== undefined && { ca }) }
}
