import { STATUS_NAMES, type StatusNames, statusNamesSchema, type Tenant } from '@switchhook/contracts'
import { MAX_SHARDS } from '@switchhook/messaging'
import { asteriskFields, asteriskRules } from '@switchhook/platform-asterisk'
import {
  type AgentEntry,
  type Scenario,
  SIMULATED_AGENTS,
  scenarioSchema,
  simulatedAgentsSchema,
} from '@switchhook/platform-simulator'
import {
  type Config,
  choice,
  commonFields,
  described,
  duration,
  eventShardsField,
  file,
  flag,
  hostNames,
  integer,
  json,
  networks,
  optional,
  origins,
  port,
  type Rule,
  rate,
  sharedFields,
  text,
} from '@switchhook/runtime'
import { secretKeysField, secretKeysInProduction } from '@switchhook/signing'
import { type Issuer, issuersSchema } from './http/auth/issuer.ts'

/** For the schema of the Helm chart's values. */
export { issuersSchema }

export const apiFields = {
  ...commonFields,
  API_PORT: described('Port of the REST API; 0: any free port.', port(8080)),
  DEPLOYMENT: described('`on-premise` allows `TRUSTED_NETWORKS`.', choice(['cloud', 'on-premise'], 'cloud')),
  AUTH_ISSUERS: described(
    'Identity providers whose tokens are accepted: JSON `[{"issuer", "audience", "tenant", "jwksUri"?, "audienceClaim"?, "clientIdClaims"?, "roles"?, "console"?, "cli"?}]` ([examples](identity-providers.md), [roles](security.md#roles), [console](console.md#set-it-up), [command line](cli.md#let-people-sign-in)).',
    json<readonly Issuer[]>(issuersSchema, '[]'),
    'none',
  ),
  AUTH_ISSUERS_OVER_HTTP: described(
    'Production refuses issuers, key addresses and console origins with `http://`; `loopback` allows those of this machine.',
    choice(['never', 'loopback'], 'never'),
  ),
  CONSOLE: described('Whether the api serves the [console](console.md) at `/console`.', choice(['on', 'off'], 'on')),
  CONSOLE_CHOOSER: described(
    'Whether the sign-in page of the console, and the sign-in of the command line, list all tenants to everybody. `off`: with several issuers, a person types the name of their organization ([console](console.md#set-it-up)).',
    choice(['on', 'off'], 'off'),
  ),
  TRUSTED_NETWORKS: described('Networks (CIDRs) that need no token; on premise only.', networks(''), 'none'),
  TRUSTED_NETWORK_TENANT: described(
    'Tenant of requests without a token. Unset: they act for the installation itself.',
    optional(text()),
  ),
  ALLOWED_HOSTS: described(
    'Host names under which requests without a token are served, besides IP addresses and `localhost` ([trusted networks](security.md#trusted-networks)).',
    hostNames(''),
    'none',
  ),
  TRUST_PROXY: described('Networks (CIDRs) of the proxies whose `X-Forwarded-For` is trusted.', networks(''), 'none'),
  CORS_ORIGINS: described(
    'Origins whose web pages may call the API with a token, such as `https://app.example`, separated by commas ([security](security.md#web-pages-of-other-origins)).',
    origins(''),
    'none',
  ),
  RATE_LIMIT: described(
    'Requests of one client in a window, such as `600/1m`, or `off` ([security](security.md)).',
    rate('6000/1m'),
  ),
  RATE_LIMIT_PER_TENANT: described(
    'Requests of all clients of a tenant together in a window, or `off`. `RATE_LIMIT=off` turns it off as well.',
    rate('30000/1m'),
  ),
  CONNECTION_LIMIT: described(
    'Connections that one api process keeps open ([limits](limits.md#connections)).',
    integer({ min: 10, max: 1_000_000 }, 5_000),
  ),
  CONNECTION_LIMIT_PER_ADDRESS: described(
    'Of these, connections of one address that is neither in `TRUST_PROXY` nor in `TRUSTED_NETWORKS`.',
    integer({ min: 1, max: 1_000_000 }, 1_000),
  ),
  IDEMPOTENCY_LIMIT_PER_CLIENT: described(
    'Idempotency keys kept per client; the oldest are forgotten first. About 1.1 KB of Redis memory each.',
    integer({ min: 100, max: 100_000_000 }, 100_000),
  ),
  IDEMPOTENCY_LIMIT_PER_TENANT: described(
    'Idempotency keys kept for all clients of a tenant together; the oldest are forgotten first.',
    integer({ min: 100, max: 100_000_000 }, 200_000),
  ),
  AUDIT_LOG_SIZE: described(
    'Audit entries of webhook changes kept per tenant; about 0.5 KB of Redis memory each.',
    integer({ min: 1, max: 1_000_000 }, 10_000),
  ),
  AUDIT_COMMANDS_SIZE: described(
    'Audit entries of call commands and presence kept per tenant; about 0.5 KB of Redis memory each.',
    integer({ min: 1, max: 1_000_000 }, 10_000),
  ),
  AUDIT_RETENTION: described(
    'How long audit entries are kept in Redis. The log line `audit` can be kept for longer.',
    duration('90d', { minMs: 60_000, maxMs: 3650 * 86_400_000 }),
  ),
  WEBHOOK_REQUIRE_HTTPS: described(
    'Rejects webhook urls that start with `http:`.',
    optional(flag()),
    '`true` in production, otherwise `false`',
  ),
  EGRESS_ADDRESSES: described(
    'Addresses or networks (CIDRs) that webhooks come from, shown to subscribers for their firewalls. It changes nothing else.',
    networks(''),
    'none',
  ),
  WEBHOOK_ALLOWED_NETWORKS: sharedFields.WEBHOOK_ALLOWED_NETWORKS,
  RECEIVER_CHECK_TIMEOUT: described(
    'How long the API waits for a receiver check. Must exceed two `DELIVERY_TIMEOUT`s.',
    duration('30s', { minMs: 1_000, maxMs: 300_000 }),
  ),
  EVENT_SHARDS: eventShardsField(MAX_SHARDS),
  EVENT_JOURNAL_SIZE: sharedFields.EVENT_JOURNAL_SIZE,
  EVENT_JOURNAL_RETENTION: sharedFields.EVENT_JOURNAL_RETENTION,
  DELIVERY_RETENTION: sharedFields.DELIVERY_RETENTION,
  STREAM_LISTENERS_PER_TENANT: described(
    'Listeners of the live stream that one api process accepts per tenant ([live stream](live-stream.md)).',
    integer({ min: 1, max: 10_000 }, 200),
  ),
  STREAM_LISTENERS_PER_CLIENT: described(
    'Of these, listeners of one client, or of one user of a client.',
    integer({ min: 1, max: 10_000 }, 50),
  ),
  SUBSCRIPTION_LIMIT_PER_TENANT: described(
    'Subscriptions that a tenant can have ([limits](limits.md)); about 1 KB of Redis memory each.',
    integer({ min: 1, max: 10_000_000 }, 100_000),
  ),
  SUBSCRIPTION_BYTES_PER_TENANT: described(
    'Bytes that the subscriptions of a tenant can have together in Redis. Each has 0.5 KB and its texts, headers and filter, 20 KB at most.',
    integer({ min: 32_768, max: 1_000_000_000_000 }, 48_000_000),
  ),
  PARKED_LIMIT_PER_SUBSCRIPTION: sharedFields.PARKED_LIMIT_PER_SUBSCRIPTION,
  STATISTICS_SUBSCRIPTIONS: sharedFields.STATISTICS_SUBSCRIPTIONS,
  RECOVERY_RATE: described(
    'Deliveries per second that one recovery sends at most.',
    integer({ min: 1, max: 1_000 }, 50),
  ),
  WRAP_UP_SECONDS: described(
    'Length of after-call work after an answered call, in seconds; 0 turns it off.',
    integer({ min: 0, max: 86_400 }, 10),
  ),
  USER_STATUS_CODES: described(
    'User status codes: JSON `{"2": "Available", …}`; 1, 2, 50 and 146 are required.',
    json<StatusNames>(statusNamesSchema, JSON.stringify(STATUS_NAMES)),
    'the codes of the [specification](specification.md)',
  ),
  PLATFORM: described(
    'The contact center behind the API: `asterisk`, or `simulator`, which only simulates calls. Required in production.',
    optional(choice(['simulator', 'asterisk'])),
    '`simulator` outside of production',
  ),
  SIMULATOR_AGENTS: described(
    'Agents of the simulated contact center: JSON `[{"agentUri", "tenant", "device"?, "count"?}]`.',
    json<readonly AgentEntry[]>(simulatedAgentsSchema, JSON.stringify(SIMULATED_AGENTS)),
    'alice, bob and carol',
  ),
  SIMULATOR_SCENARIO: described(
    'Path of a JSON file that makes the simulator generate calls ([simulator](simulator.md)).',
    optional(file(json<Scenario>(scenarioSchema).parse)),
  ),
  ...asteriskFields,
  SECRET_KEYS: secretKeysField,
  SIGNATURE_OVERLAP: described(
    'How long the previous webhook secret also signs after a rotation without `overlapSeconds`.',
    duration('24h', { maxMs: 7 * 86_400_000 }),
  ),
}

export type ApiConfig = Config<typeof apiFields>

export const apiRules: readonly Rule<typeof apiFields>[] = [
  // Otherwise a real installation could simulate its calls unnoticed and answer them 202.
  ({ PLATFORM, NODE_ENV }) =>
    NODE_ENV === 'production' && PLATFORM === undefined
      ? 'PLATFORM is required in production: asterisk, or simulator, which only simulates calls'
      : undefined,
  // Otherwise all counted agents would have the same URI.
  ({ SIMULATOR_AGENTS }) =>
    SIMULATOR_AGENTS.some(({ agentUri, count }) => count !== undefined && !agentUri.includes('{n}'))
      ? 'SIMULATOR_AGENTS: an agentUri with a count must contain {n}'
      : undefined,
  ({ DEPLOYMENT, TRUSTED_NETWORKS }) =>
    DEPLOYMENT === 'cloud' && TRUSTED_NETWORKS.length > 0
      ? 'TRUSTED_NETWORKS is for DEPLOYMENT=on-premise only; in the cloud every request needs a token'
      : undefined,
  // Otherwise every client could set its own address in the header.
  ({ TRUST_PROXY, TRUSTED_NETWORKS }) =>
    TRUSTED_NETWORKS.length > 0 && TRUST_PROXY.some((cidr) => cidr.endsWith('/0'))
      ? 'TRUST_PROXY must name the proxies, not every address, if TRUSTED_NETWORKS is set'
      : undefined,
  ({ TRUSTED_NETWORK_TENANT, TRUSTED_NETWORKS }) =>
    TRUSTED_NETWORK_TENANT !== undefined && TRUSTED_NETWORKS.length === 0
      ? 'TRUSTED_NETWORK_TENANT requires TRUSTED_NETWORKS'
      : undefined,
  ({ ALLOWED_HOSTS, TRUSTED_NETWORKS }) =>
    ALLOWED_HOSTS.length > 0 && TRUSTED_NETWORKS.length === 0
      ? 'ALLOWED_HOSTS requires TRUSTED_NETWORKS: a request with a token is served under any host'
      : undefined,
  ({ AUTH_ISSUERS, TRUSTED_NETWORKS }) =>
    AUTH_ISSUERS.length + TRUSTED_NETWORKS.length === 0
      ? 'AUTH_ISSUERS is required: without an issuer (or, on premise, TRUSTED_NETWORKS) every request is refused'
      : undefined,
  // A token names only its issuer, so the issuer must determine the tenant.
  ({ AUTH_ISSUERS }) =>
    new Set(AUTH_ISSUERS.map(({ issuer }) => issuer)).size < AUTH_ISSUERS.length
      ? 'AUTH_ISSUERS names an issuer twice'
      : undefined,
  // Whoever can change an answer of the provider on its way can sign tokens.
  ({ NODE_ENV, AUTH_ISSUERS, AUTH_ISSUERS_OVER_HTTP }) =>
    NODE_ENV === 'production' &&
    AUTH_ISSUERS.flatMap(addressesOf).some((url) => isOverHttp(url, AUTH_ISSUERS_OVER_HTTP === 'loopback'))
      ? 'AUTH_ISSUERS: every address must start with https:// and be valid in production; AUTH_ISSUERS_OVER_HTTP=loopback allows those of this machine'
      : undefined,
  secretKeysInProduction,
  ...asteriskRules,
]

const addressesOf = ({ issuer, jwksUri, console: { origins = [] } = { clientId: '', scope: '' } }: Issuer) => [
  issuer,
  ...(jwksUri === undefined ? [] : [jwksUri]),
  ...origins,
]

function isOverHttp(url: string, isLoopbackAllowed: boolean): boolean {
  const address = URL.parse(url)
  if (address?.protocol === 'https:') return false
  return !(isLoopbackAllowed && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(address?.hostname ?? ''))
}

/** All tenants of the configured callers; null is the installation itself. */
export const tenantsOf = ({ AUTH_ISSUERS, TRUSTED_NETWORK_TENANT }: ApiConfig): readonly Tenant[] => [
  ...new Set([null, ...AUTH_ISSUERS.map(({ tenant }) => tenant), TRUSTED_NETWORK_TENANT ?? null]),
]
