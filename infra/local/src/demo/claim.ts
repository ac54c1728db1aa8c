/** Something that the demonstration promised to show did not happen. */
export class NotShown extends Error {
  override readonly name = 'NotShown'
}

/** @throws NotShown */
export function claim(holds: boolean, what: string): asserts holds {
  if (!holds) throw new NotShown(`this did not happen: ${what}`)
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
