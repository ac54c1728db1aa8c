import fc from 'fast-check'
import {
  cellsNeeded,
  divideTenants,
  overloaded,
  placeByDirectory,
  placeByHash,
  skewOf,
  sum,
  zipfLoads,
} from './place-tenants.ts'

const tenants = fc.integer({ min: 1, max: 500 })
const exponent = fc.double({ min: 0, max: 2, noNaN: true })
const cells = fc.integer({ min: 1, max: 60 })

test('Zipf: the loads are parts of the whole, the largest first, and the second is half of the first at exponent 1', () => {
  fc.assert(
    fc.property(tenants, exponent, (count, skew) => {
      const loads = zipfLoads(count, skew)
      expect(sum(loads)).toBeCloseTo(1)
      expect(loads).toEqual(loads.toSorted((a, b) => b - a))
    }),
  )
  const [first = 0, second] = zipfLoads(1_000, 1)
  expect(second).toBeCloseTo(first / 2)
})

test('a divided tenant keeps its load, and no part is larger than allowed', () => {
  fc.assert(
    fc.property(tenants, exponent, fc.double({ min: 0.001, max: 1, noNaN: true }), (count, skew, largest) => {
      const loads = zipfLoads(count, skew)
      const pieces = divideTenants(loads, largest)
      expect(Math.max(...pieces.map(({ load }) => load))).toBeLessThanOrEqual(largest + 1e-12)
      for (const [tenant, load] of loads.entries()) {
        const own = pieces.filter((piece) => piece.tenant === tenant)
        expect(sum(own.map((piece) => piece.load))).toBeCloseTo(load)
        expect((own.length - 1) * largest).toBeLessThan(load + 1e-12)
      }
    }),
    { numRuns: 30 },
  )
})

test.each([
  ['hash', placeByHash],
  ['directory', placeByDirectory],
])('%s: every load is in exactly one cell', (_name, place) => {
  fc.assert(
    fc.property(tenants, exponent, cells, (count, skew, into) => {
      const placement = place(divideTenants(zipfLoads(count, skew), 1), into)
      expect(placement).toHaveLength(into)
      expect(sum(placement)).toBeCloseTo(1)
      expect(skewOf(placement)).toBeGreaterThanOrEqual(1 - 1e-9)
    }),
  )
})

test('a directory never exceeds the mean by more than the largest piece (list scheduling, Graham 1969)', () => {
  fc.assert(
    fc.property(tenants, exponent, cells, (count, skew, into) => {
      const pieces = divideTenants(zipfLoads(count, skew), 1)
      const largest = Math.max(...pieces.map(({ load }) => load))
      expect(Math.max(...placeByDirectory(pieces, into))).toBeLessThanOrEqual(1 / into + largest + 1e-9)
    }),
  )
})

test('the cells that are needed suffice, and one less does not', () => {
  const pieces = divideTenants(zipfLoads(1_000, 1), 0.02)
  const needed = cellsNeeded(placeByDirectory, pieces, 0.05) ?? 0
  expect(needed).toBeGreaterThanOrEqual(20)
  expect(overloaded(placeByDirectory(pieces, needed), 0.05)).toBe(0)
  if (needed > 20) expect(overloaded(placeByDirectory(pieces, needed - 1), 0.05)).toBeGreaterThan(0)
  expect(cellsNeeded(placeByDirectory, pieces, 0.01)).toBeUndefined()
})
