import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { openRedis, type Redis } from '@switchhook/store'
import { silentLog } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from './api-under-test.ts'

interface Opened<Tenant extends string> {
  readonly around: Surroundings<Tenant>
  readonly api: ApiUnderTest
  /** The connection of another service, for which the tests stand in. */
  readonly redis: Redis
  /** The authorization header of a request of each tenant. */
  readonly headers: Readonly<Record<Tenant, { authorization: string }>>
}

/**
 * Gives the tests of a file an api. Call it at the top of the file; `opened` is called before the first test.
 * @param settings of the api, besides those of its surroundings
 */
export function useApi<Tenant extends string>(
  tenants: readonly Tenant[],
  opened: (world: Opened<Tenant>) => void,
  settings: Readonly<Record<string, string>> = {},
): void {
  let world: Opened<Tenant> | undefined
  beforeAll(async () => {
    const around = await startSurroundings(...tenants)
    const redis = await openRedis({ url: around.redis.redisUrl, log: silentLog, name: 'test' })
    const api = await startApiUnderTest({ ...around.env, ...settings })
    const headers = Object.fromEntries(tenants.map((tenant) => [tenant, around.bearer(tenant)]))
    world = { around, api, redis, headers: headers as Opened<Tenant>['headers'] }
    opened(world)
  })
  afterAll(async () => {
    await world?.api.close()
    await world?.redis.close()
    await world?.around.close()
  })
}
