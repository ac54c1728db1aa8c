/** The fields that differ from when the form was opened. Only these are sent, so another person's changes stay. */
export function changedFields<Fields extends object>(fields: Fields, before: object): Partial<Fields> {
  const stored = new Map(Object.entries(before))
  const changed = Object.entries(fields).filter(([name, value]) => jsonOf(value) !== jsonOf(stored.get(name)))
  return Object.fromEntries(changed) as Partial<Fields>
}

/** A list is a set: its order does not count. */
const jsonOf = (value: unknown): string =>
  Array.isArray(value) ? JSON.stringify(value.map(String).toSorted()) : JSON.stringify(value || null)
