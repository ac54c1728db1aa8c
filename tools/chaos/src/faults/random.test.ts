import { createRandom } from './random.ts'

test('the same seed gives the same numbers, and another seed gives others', () => {
  const draw = (seed: number): number[] => {
    const random = createRandom(seed)
    return Array.from({ length: 5 }, () => random.between(0, 1_000_000))
  }
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

test('the numbers are those of mulberry32', () => {
  const random = createRandom(1)
  expect([random.next(), random.next()]).toEqual([0.6270739405881613, 0.002735721180215478])
})

test('both ends of a range are drawn, and nothing outside', () => {
  const random = createRandom(3)
  const drawn = new Set(Array.from({ length: 200 }, () => random.between(2, 4)))
  expect([...drawn].toSorted((a, b) => a - b)).toEqual([2, 3, 4])
})
