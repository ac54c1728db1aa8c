/** The load of each tenant as a part of the whole. The tenant of rank `r` has a load proportional to `r ** -exponent`. */
export function zipfLoads(tenants: number, exponent: number): readonly number[] {
  const weights = Array.from({ length: tenants }, (_, at) => (at + 1) ** -exponent)
  const total = sum(weights)
  return weights.map((weight) => weight / total)
}

/** A tenant, or one of the equal parts of a tenant that is too large for a cell. */
export interface Piece {
  readonly tenant: number
  readonly load: number
}

/** Divides each tenant above `largest` into as few equal parts as fit below it. */
export function divideTenants(loads: readonly number[], largest: number): readonly Piece[] {
  return loads.flatMap((load, tenant) => {
    const parts = Math.max(1, Math.ceil(load / largest))
    return Array.from({ length: parts }, () => ({ tenant, load: load / parts }))
  })
}

/** The load of each cell. */
export type Placement = readonly number[]

/** Puts each piece into the cell that a hash of its tenant and number names: no directory is needed. */
export const placeByHash: Place = (pieces, cells) => {
  const loads = emptyCells(cells)
  for (const [at, { load }] of pieces.entries()) {
    const cell = hash(at) % cells
    loads[cell] = (loads[cell] ?? 0) + load
  }
  return loads
}

/** Puts each piece, in the order of their loads, into the cell with the least load: what a tenant directory allows. */
export const placeByDirectory: Place = (pieces, cells) => {
  const loads = emptyCells(cells)
  for (const { load } of pieces.toSorted((a, b) => b.load - a.load)) {
    const least = loads.indexOf(Math.min(...loads))
    loads[least] = (loads[least] ?? 0) + load
  }
  return loads
}

/** The load of the fullest cell, as a multiple of the mean. */
export const skewOf = (placement: Placement): number => (Math.max(...placement) * placement.length) / sum(placement)

/** A way to place the pieces into a number of cells. */
export type Place = (pieces: readonly Piece[], cells: number) => Placement

/** The least number of cells with which none bears more than `capacity`; undefined if one piece alone is larger. */
export function cellsNeeded(place: Place, pieces: readonly Piece[], capacity: number): number | undefined {
  if (pieces.some(({ load }) => load > capacity)) return undefined
  for (let cells = Math.ceil(1 / capacity); cells <= pieces.length; cells++) {
    if (overloaded(place(pieces, cells), capacity) === 0) return cells
  }
  return pieces.length
}

/** Counts the cells above this load. */
export const overloaded = (placement: Placement, capacity: number): number =>
  placement.filter((load) => load > capacity).length

const emptyCells = (cells: number): number[] => Array.from({ length: cells }, () => 0)

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** The finalizer of MurmurHash3 (public domain): every bit of the input changes every bit of the result. */
function hash(value: number): number {
  let mixed = value + 0x9e3779b9
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
