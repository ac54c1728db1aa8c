import fc from 'fast-check'

const LOT = 25

/**
 * Checks a property of `numRuns` values, `LOT` of them at a time: on a busy machine, thousands of requests one after the other
 * take minutes. A counterexample is a lot.
 */
export async function checkInLots<T>(
  values: fc.Arbitrary<T>,
  numRuns: number,
  check: (value: T) => Promise<void>,
): Promise<void> {
  const lots = fc.array(values, { minLength: LOT, maxLength: LOT })
  const checkLot = async (lot: readonly T[]): Promise<void> => {
    for (const result of await Promise.allSettled(lot.map(check))) if (result.status === 'rejected') throw result.reason
  }
  await fc.assert(fc.asyncProperty(lots, checkLot), { numRuns: Math.ceil(numRuns / LOT) })
}
