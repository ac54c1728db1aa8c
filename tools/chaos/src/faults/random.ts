export type Random = ReturnType<typeof createRandom>

/**
 * Pseudo-random numbers, the same for the same seed on every machine: mulberry32, by Tommy Ettinger (public domain), with 32
 * bits of state.
 */
export function createRandom(seed: number) {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    /** From 0 to below 1. */
    next,
    /** An integer, both ends included. */
    between,
    /** @throws if the list is empty */
    pick: <T>(list: readonly T[]): T => {
      const drawn = list[between(0, list.length - 1)]
      if (drawn === undefined) throw new Error('there is nothing to pick from')
      return drawn
    },
  }
}
