import { getOrCreate } from './get-or-create.ts'

/**
 * One read per key at a time: callers during a read share the next one, so each sees every write that ended before its call.
 */
export function oneAtATime<Key, Value>(read: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
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
