import { join } from 'node:path'
import {
  addressesOf,
  CLI_CLIENT_ID,
  CONSOLE_CLIENT_ID,
  DEV_AUDIENCE,
  DEV_PERSON_SCOPE,
  DEV_ROLES,
  devIdpFields,
  devTenants,
} from '@switchhook/dev-idp'
import { type BackingServices, type Home, repository } from '@switchhook/test-servers'
import type { StackOptions } from './stack-options.ts'

/** One process of the stack other than RabbitMQ and Redis. */
export interface Member {
  /** `api-1`, `fanout-1`, `delivery-worker-2`, `dev-idp`: also the name of its pid file and log file. */
  readonly name: string
  readonly kind: 'api' | 'fanout' | 'delivery-worker' | 'dev-idp'
  /** The built script that starts it. */
  readonly script: string
}

export interface MemberPorts {
  /** The port for clients; only the api and the identity provider have clients. */
  readonly port?: number | undefined
  /** Every service has one; the identity provider has none. */
  readonly healthPort?: number | undefined
}

/** The processes that should run. */
export function membersOf({ replicas }: StackOptions): readonly Member[] {
  const services = (['api', 'fanout', 'delivery-worker'] as const).flatMap((kind) =>
    Array.from({ length: replicas[kind] }, (_, index) => ({
      name: `${kind}-${index + 1}`,
      kind,
      script: join(repository, 'services', kind, 'dist', 'main.js'),
    })),
  )
  const script = join(repository, 'tools', 'dev-idp', 'dist', 'main.js')
  return [{ name: 'dev-idp', kind: 'dev-idp', script }, ...services]
}

/** The environment of a member: the user's variables, defaults for a local stack, and the URLs and ports of this stack. */
export function memberEnvironment(
  member: Member,
  own: MemberPorts,
  stack: {
    readonly home: Home
    readonly env: NodeJS.ProcessEnv
    readonly backing: BackingServices
    readonly idpUrl: string
    /** Settings for the stack's own Asterisk. */
    readonly platform?: NodeJS.ProcessEnv | undefined
  },
): NodeJS.ProcessEnv {
  const { home, env, backing, idpUrl, platform = {} } = stack
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const common: NodeJS.ProcessEnv = { NODE_ENV: 'development', ...set }
  if (member.kind === 'dev-idp') {
    return {
      ...common,
      DEV_IDP_PORT: String(own.port),
      DEV_IDP_KEYS: set['DEV_IDP_KEYS'] ?? join(home.dataDir, 'dev-idp-keys.json'),
      // A HEALTH_PORT of the user would be taken by another process.
      HEALTH_PORT: '',
    }
  }
  return {
    AUTH_ISSUERS: authIssuers(idpUrl, devIdpFields.DEV_IDP_TENANTS.parse(set['DEV_IDP_TENANTS'] ?? '0')),
    // People who try it choose between the example tenants.
    CONSOLE_CHOOSER: 'on',
    // The routes of the simulator need no token.
    LISTEN_HOST: '127.0.0.1',
    // A local stack delivers to receivers on this machine.
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    ...platform,
    ...common,
    AMQP_URL: backing.amqpUrl,
    REDIS_URL: backing.redisUrl,
    HEALTH_PORT: String(own.healthPort),
    ...(own.port !== undefined && { API_PORT: String(own.port) }),
  }
}

const signInBy = (clientId: string) => ({ clientId, scope: DEV_PERSON_SCOPE })

/** The issuers that the api trusts: one per tenant of the local identity provider. */
const authIssuers = (idpUrl: string, furtherTenants: number): string =>
  JSON.stringify(
    devTenants(furtherTenants).map(({ tenant }) => {
      const { issuer, jwksUri } = addressesOf(idpUrl, tenant)
      const clients = { console: signInBy(CONSOLE_CLIENT_ID), cli: signInBy(CLI_CLIENT_ID) }
      return { issuer, audience: DEV_AUDIENCE, tenant, jwksUri, roles: DEV_ROLES, ...clients }
    }),
  )
