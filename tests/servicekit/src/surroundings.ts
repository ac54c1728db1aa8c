import {
  startTokenIssuer,
  type TestBroker,
  type TestRedis,
  type TokenIssuer,
  testBroker,
  testRedis,
} from '@switchhook/testkit'

/** The dependencies of an api: a Redis, a broker, and one identity provider per tenant. */
export interface Surroundings<Tenant extends string> {
  readonly redis: TestRedis
  readonly broker: TestBroker
  readonly idps: Readonly<Record<Tenant, TokenIssuer>>
  /** Configuration of an api that uses all of them. */
  readonly env: Readonly<Record<'REDIS_URL' | 'AMQP_URL' | 'AUTH_ISSUERS', string>>
  /** The authorization header of a request of this tenant. @param claims in addition to the default claims */
  bearer(tenant: Tenant, claims?: Readonly<Record<string, unknown>>): { authorization: string }
  close(): Promise<void>
}

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
