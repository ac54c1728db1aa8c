import { setTimeout as delay } from 'node:timers/promises'
import { Unavailable } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import type { Commands } from '../redis/commands.ts'
import { execute, type Redis, RedisRefusal } from '../redis/redis.ts'
import { createIdempotencyStore } from './idempotency-store.ts'

/** A Redis that fails every command until it is `up`, and notes the tokens of the claims that it releases. */
function redisThatIsAway(failure: () => Error = () => new Unavailable('redis', 'away')) {
  const state = { isUp: false, tries: 0, released: [] as string[] }
  const runScript = async (_name: string, _keys: readonly string[], [token]: readonly string[]) => {
    state.tries += 1
    if (!state.isUp) throw failure()
    state.released.push(token ?? '')
    return 1
  }
  const redis: Pick<Redis, typeof execute> = { [execute]: (action) => action({ runScript } as unknown as Commands) }
  return { state, store: createIdempotencyStore(redis as Redis, { leaseMs: 30_000, retentionMs: 60_000 }) }
}

const claimsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ scope: `scope-${n}`, token: `${n}`, seed: 'seed', isRerun: false }))

/** Longer than the first wait before releases are repeated, and shorter than the first two. */
const ONE_ROUND_MS = 900

describe('claims that could not be released', () => {
  test('are tried one at a time while Redis is away, and all of them once it answers', async () => {
    const { state, store } = redisThatIsAway()
    const claims = claimsOf(50)
    await Promise.all(claims.map((claim) => store.release(claim)))
    expect(state.tries).toBe(50)
    await delay(ONE_ROUND_MS)
    expect(state.tries).toBe(51)
    state.isUp = true
    await eventually(() => expect(state.released).toHaveLength(50))
    expect(new Set(state.released)).toEqual(new Set(claims.map(({ token }) => token)))
  })

  test('beyond a limit end with their leases', async () => {
    const { state, store } = redisThatIsAway()
    await Promise.all(claimsOf(10_050).map((claim) => store.release(claim)))
    state.isUp = true
    await eventually(() => expect(state.released.length).toBeGreaterThanOrEqual(10_000))
    await delay(ONE_ROUND_MS)
    expect(state.released).toHaveLength(10_000)
    // The next outage finds an empty queue.
    state.isUp = false
    await store.release({ scope: 'later', token: 'later', seed: 'seed', isRerun: false })
    state.isUp = true
    await eventually(() => expect(state.released.at(-1)).toBe('later'))
  })

  test('are not tried again if Redis refuses the command itself', async () => {
    const { state, store } = redisThatIsAway(() => new RedisRefusal('WRONGTYPE'))
    await Promise.all(claimsOf(2).map((claim) => store.release(claim)))
    await delay(ONE_ROUND_MS)
    expect(state.tries).toBe(2)
  })

  test('do not keep the process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const { state, store } = redisThatIsAway()
    const before = timers()
    await Promise.all(claimsOf(10).map((claim) => store.release(claim)))
    expect(timers()).toBe(before)
    state.isUp = true
    await eventually(() => expect(state.released).toHaveLength(10))
  })
})
