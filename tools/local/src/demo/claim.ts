/** A step of the demo did not do what it should. */
export class NotShown extends Error {
  override readonly name = 'NotShown'
}

/** @throws NotShown */
export function claim(holds: boolean, what: string): asserts holds {
  if (!holds) throw new NotShown(`not verified: ${what}`)
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
