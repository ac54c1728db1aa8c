/** Pseudo-random numbers, the same for the same seed. */
export interface Random {
  /** From 0 to below 1. */
  next(): number
  /** An integer, both ends included. */
  between(least: number, most: number): number
  pick<T>(list: readonly [T, ...T[]]): T
}

/** mulberry32, by Tommy Ettinger (public domain): 32 bits of state, the same numbers on every machine. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
  }
}
