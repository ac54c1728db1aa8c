/** A step of the demo had the wrong result. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}

/** @throws StepFailed */
export function verify(holds: boolean, what: string): asserts holds {
  if (!holds) throw new StepFailed(`not verified: ${what}`)
}

/** @throws StepFailed unless both are the same as JSON */
export const verifySame = (actual: unknown, expected: unknown, what: string): void =>
  verify(JSON.stringify(actual) === JSON.stringify(expected), what)
