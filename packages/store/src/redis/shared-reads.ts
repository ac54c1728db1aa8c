import { type Redis, run } from './redis.ts'

/** A caller joins a read that has not begun, so it sees every write that ended before the call. */
type SharedRead<Key, Value> = (key: Key) => Promise<Value>

/**
 * One read for all keys of a tick: it begins at the end of the tick of its first caller. Where it resolves to a promise in
 * place of a value, the callers of that key alone wait for it, and fail with it.
 * @param atEnd when it begins instead
 */
export function oncePerTick<Key, Value>(
  read: (keys: readonly Key[]) => Promise<readonly (Value | Promise<Value>)[]>,
  atEnd: (begin: () => void) => unknown = (begin) => process.nextTick(begin),
): SharedRead<Key, Value> {
  let next: ReturnType<typeof schedule> | undefined

  function schedule() {
    const places = new Map<Key, number>()
    const values = new Promise<void>((resolve) => {
      atEnd(resolve)
    }).then(() => {
      next = undefined
      return read([...places.keys()])
    })
    return { places, values }
  }

  return async (key) => {
    next ??= schedule()
    const { places, values } = next
    const place = places.get(key) ?? places.size
    places.set(key, place)
    return await ((await values)[place] as Value | Promise<Value>)
  }
}

/**
 * The strings at keys of a tick, in one command. A cluster gets one for each key, so that a primary that is away fails its own
 * keys only.
 * @param readAlone reads a key of a cluster
 */
export const stringsPerTick = (
  redis: Pick<Redis, typeof run | 'mayMixTags'>,
  readAlone: SharedRead<string, string | null> = (key) => redis[run]((commands) => commands.get(key)),
): SharedRead<string, string | null> =>
  oncePerTick(async (keys) =>
    redis.mayMixTags() ? await redis[run]((commands) => commands.getEach(keys)) : keys.map(readAlone),
  )
