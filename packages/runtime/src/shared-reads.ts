import { getOrCreate } from './by-key.ts'

/**
 * A read that callers share. Each joins one that begins after its call, so it sees every write that ended before.
 *
 * | take | if |
 * | --- | --- |
 * | `oncePerTick` | one command answers for many keys: it has those of all callers of a tick |
 * | `stringsPerTick` (packages/store) | the answers are strings in Redis |
 * | `oneAtATime` | each key takes a read of its own, or there is one key: callers during a read share the next |
 */
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

/** One read per key at a time. Callers during a read share the next one. */
export function oneAtATime<Key, Value>(read: SharedRead<Key, Value>): SharedRead<Key, Value> {
  const running = new Map<Key, Promise<Value>>()
  const next = new Map<Key, Promise<Value>>()

  function begin(key: Key): Promise<Value> {
    next.delete(key)
    const reading = read(key).finally(() => {
      if (running.get(key) === reading) running.delete(key)
    })
    running.set(key, reading)
    return reading
  }

  return (key) => {
    const present = running.get(key)
    const start = (): Promise<Value> => begin(key)
    return present === undefined ? start() : getOrCreate(next, key, () => present.then(start, start))
  }
}
