import { compare, KEPT_MS, type Position, type Store } from '../store.ts'

/** What the store needs of a client of `ioredis`, or of `redis`. */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> }

/** A delivery that is being handled. */
interface RedisTransaction {
  readonly token: string
  /** The leases: of the delivery, and of the subject. */
  readonly keys: string[]
  /** To be stored with the mark: key, lease and value. */
  position?: readonly [key: string, lease: string, value: string]
}

/** A process that dies leaves its leases for this time. */
const LEASE_MS = 30_000
const RENEW_EVERY_MS = 10_000
const TRY_EVERY_MS = 50
/** One hash tag, so that a cluster keeps all keys in one slot. */
const PREFIX = '{switchhook-receiver}'
const DONE = 'done'

/** KEYS: leases. ARGV: token, ms. Renews those that are ours; 0 ms releases them. */
const EXPIRE = `
  for _, key in ipairs(KEYS) do
    if redis.call('GET', key) == ARGV[1] then redis.call('PEXPIRE', key, ARGV[2]) end
  end`
/** KEYS: mark, and the lease and the key of a position. ARGV: token, mark, ms, position. */
const COMMIT = `
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  if KEYS[2] and redis.call('GET', KEYS[2]) == ARGV[1] then
    redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[3])
    redis.call('DEL', KEYS[2])
  end`

/**
 * Keeps marks and positions in Redis, for several processes. While a handler runs, the delivery is leased. Redis and the
 * effects are not one transaction: after a crash a delivery may be handled again, so effects must bear a repetition.
 */
export function redisStore(redis: RedisClient): Store<RedisTransaction> {
  const send = (...args: [string, ...string[]]): Promise<unknown> =>
    'call' in redis ? redis.call(...args) : redis.sendCommand(args)
  const run = (script: string, keys: readonly string[], ...args: string[]): Promise<unknown> =>
    send('EVAL', script, String(keys.length), ...keys, ...args)
  /** Takes a lease. Resolves to the value that is in the way; null: the lease is ours. */
  const takeLease = async (key: string, token: string): Promise<string | null> => {
    if ((await send('SET', key, token, 'NX', 'PX', String(LEASE_MS))) !== null) return null
    const value = String(await send('GET', key))
    // A client sends the command again after a lost connection. It finds its own lease if only the answer was lost.
    return value === token ? null : value
  }

  return {
    async once(id, work) {
      const mark = `${PREFIX}:delivery:${id}`
      const tx: RedisTransaction = { token: crypto.randomUUID(), keys: [mark] }
      const state = await takeLease(mark, tx.token)
      if (state !== null) return state === DONE ? 'already' : 'busy'
      const renewal = setInterval(() => {
        // If Redis is away, the end of the work tells.
        run(EXPIRE, tx.keys, tx.token, String(LEASE_MS)).catch(() => undefined)
      }, RENEW_EVERY_MS)
      try {
        await work(tx)
        const [key, lease, value] = tx.position ?? []
        const position = key && lease ? [lease, key] : []
        await run(COMMIT, [mark, ...position], tx.token, DONE, String(KEPT_MS), value ?? '')
        return 'done'
      } finally {
        clearInterval(renewal)
        await run(EXPIRE, tx.keys, tx.token, '0').catch(() => undefined)
      }
    },
    async advance(tx, subject, position) {
      const key = `${PREFIX}:position:${subject}`
      const lease = `${PREFIX}:lease:${subject}`
      // oxlint-disable-next-line no-restricted-globals -- a pause before the next try
      while ((await takeLease(lease, tx.token)) !== null) await new Promise((next) => setTimeout(next, TRY_EVERY_MS))
      tx.keys.push(lease)
      const last = await send('GET', key)
      const advance = compare(last === null ? undefined : (JSON.parse(last as string) as Position), position)
      if (advance.newer) tx.position = [key, lease, JSON.stringify(position)]
      return advance
    },
  }
}
