import { unverified } from '@switchhook/testkit'
import type { Commands } from '../redis/commands.ts'
import { execute, type Redis } from '../redis/redis.ts'
import { createMatching } from './matching.ts'

test('in a cluster, a primary that is away fails its own tenants only', async () => {
  const read = async <Reply>(key: string, reply: Reply): Promise<Reply> => {
    if (key.includes('away')) throw new Error('its primary is away')
    return reply
  }
  const commands = {
    get: (key: string) => read(key, null),
    getEach: (keys: readonly string[]) => Promise.all(keys.map((key) => read(key, null))),
    hscan: (key: string) => read(key, ['0', []]),
  } as unknown as Commands
  const redis: Pick<Redis, typeof execute | 'mayMixTags'> = {
    mayMixTags: () => false,
    [execute]: (action) => action(commands),
  }
  const matching = createMatching(redis as Redis, unverified)
  const results = await Promise.allSettled(['one', 'away', 'two'].map((tenant) => matching(tenant, 'call.status')))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
