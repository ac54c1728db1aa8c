import { UNLIMITED, unverified } from '@switchhook/testkit'
import type { Commands } from '../redis/commands.ts'
import { execute, type Redis } from '../redis/redis.ts'
import { createDeliveryStore } from './delivery-store.ts'
import { acknowledged, delivered, deliveryOf, retention } from './testing/deliveries.ts'

/** An empty Redis that notes each command, and rejects those with a key of a delivery that is `away`. */
function redisOf({ isCluster, away = 'none' }: { isCluster: boolean; away?: string }) {
  const sent: string[] = []
  async function answer<Reply>(command: string, keys: readonly string[], reply: Reply): Promise<Reply> {
    sent.push(`${command} of ${keys.length}`)
    if (keys.some((key) => key.includes(away))) throw new Error('its primary is away')
    return reply
  }
  const commands = {
    get: (key: string) => answer('get', [key], null),
    getrange: (key: string) => answer('getrange', [key], ''),
    set: (key: string) => answer('set', [key], 'OK'),
    getEach: (keys: readonly string[]) =>
      answer(
        'getEach',
        keys,
        keys.map(() => null),
      ),
    runParts: (_name: string, parts: readonly { readonly keys: readonly string[] }[]) =>
      answer(
        'runParts',
        parts.flatMap(({ keys }) => keys),
        [[]],
      ),
  } as unknown as Commands
  const redis: Pick<Redis, typeof execute | 'mayMixTags'> = {
    mayMixTags: () => !isCluster,
    [execute]: (action) => action(commands),
  }
  return { sent, store: createDeliveryStore(redis as Redis, retention, UNLIMITED, unverified) }
}

const statusOf = (results: readonly PromiseSettledResult<unknown>[]) => results.map(({ status }) => status)

describe('the deliveries of one tick', () => {
  test('share a read and a write', async () => {
    const { sent, store } = redisOf({ isCluster: false })
    const all = [deliveryOf(), deliveryOf(), deliveryOf()]
    await Promise.all(all.map((delivery) => store.isSettled(delivery)))
    await Promise.all(all.map((delivery) => store.settle(delivery, delivered(delivery), acknowledged)))
    expect(sent).toEqual(['getEach of 3', 'runParts of 3'])
  })

  test('share a write also if their answers arrive in several ticks of one iteration of the event loop', async () => {
    const { sent, store } = redisOf({ isCluster: false })
    const [first, second] = [deliveryOf(), deliveryOf()]
    const settled = store.settle(first, delivered(first), acknowledged)
    for (let ticks = 0; ticks < 3; ticks++) await new Promise<void>((resolve) => process.nextTick(resolve))
    await Promise.all([settled, store.settle(second, delivered(second), acknowledged)])
    expect(sent).toEqual(['runParts of 2'])
  })

  test('do not share a read of a record that has a run already, which may be large', async () => {
    const { sent, store } = redisOf({ isCluster: false })
    const all = [deliveryOf(), deliveryOf(), deliveryOf({ run: 2 }), deliveryOf({ run: 3 })]
    await Promise.all(all.map((delivery) => store.isSettled(delivery)))
    expect(sent.toSorted()).toEqual(['getEach of 2', 'getrange of 1', 'getrange of 1'])
  })

  test('do not fail in a cluster because the primary of one of them is away', async () => {
    const all = [deliveryOf(), deliveryOf(), deliveryOf()]
    const { store } = redisOf({ isCluster: true, away: all[1]?.deliveryId ?? '' })
    const read = await Promise.allSettled(all.map((delivery) => store.isSettled(delivery)))
    expect(statusOf(read)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const written = await Promise.allSettled(
      all.map((delivery) => store.settle(delivery, delivered(delivery), acknowledged)),
    )
    expect(statusOf(written)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})
