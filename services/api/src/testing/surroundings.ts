import {
  startTokenIssuer,
  type TestBroker,
  type TestRedis,
  type TokenIssuer,
  testBroker,
  testRedis,
} from '@switchhook/testkit'

/** What an api needs around it: a Redis, a broker, and an identity provider for each tenant. */
export interface Surroundings<Tenant extends string> {
  readonly redis: TestRedis
  readonly broker: TestBroker
  readonly idps: Readonly<Record<Tenant, TokenIssuer>>
  /** Leads an api to all of them. */
  readonly env: Readonly<Record<'REDIS_URL' | 'AMQP_URL' | 'AUTH_ISSUERS', string>>
  /** The header of a request of this tenant. @param claims beyond those that every token has */
  bearer(tenant: Tenant, claims?: Readonly<Record<string, unknown>>): { authorization: string }
  close(): Promise<void>
}

/** The tenants are named as their identity providers know them. */
export async function startSurroundings<Tenant extends string>(
  ...tenants: readonly Tenant[]
): Promise<Surroundings<Tenant>> {
  const [redis, broker] = await Promise.all([testRedis(), testBroker()])
  const started = await Promise.all(tenants.map(async (tenant) => [tenant, await startTokenIssuer()] as const))
  const idps = Object.fromEntries(started) as Record<Tenant, TokenIssuer>
  const issuers = started.map(([tenant, { issuer, audience }]) => ({ issuer, audience, tenant }))
  return {
    redis,
    broker,
    idps,
    env: { REDIS_URL: redis.redisUrl, AMQP_URL: broker.amqpUrl, AUTH_ISSUERS: JSON.stringify(issuers) },
    bearer: (tenant, claims) => ({ authorization: `Bearer ${idps[tenant].token(claims)}` }),
    close: async () => {
      await Promise.all([redis.close(), broker.close(), ...started.map(([, idp]) => idp.close())])
    },
  }
}
