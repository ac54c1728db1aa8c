import type { Store } from './store.ts'

/**
 * The part of a store that is the receiver's own, so that several receivers can share the store. Without a name, the keys
 * stay as they are.
 * @throws TypeError if the name is not valid
 */
export function namedStore<Tx>(name: string | undefined, store: Store<Tx>): Store<Tx> {
  if (name === undefined) return store
  if (typeof name !== 'string' || name === '') throw new TypeError('name must be a non-empty string')
  // Quoted, so that no key of one name is a key of another: no key without a name begins with a quotation mark.
  const own = (key: string): string => `${JSON.stringify(name)} ${key}`
  return {
    once: (id, work) => store.once(own(id), work),
    advance: (tx, subject, position) => store.advance(tx, own(subject), position),
  }
}
