/** A step of the demo had the wrong result. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}

/** @throws StepFailed */
export function verify(holds: boolean, what: string): asserts holds {
  if (!holds) throw new StepFailed(`not verified: ${what}`)
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
