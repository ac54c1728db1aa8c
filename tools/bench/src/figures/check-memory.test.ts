import { checkMemory, type MemorySample } from './check-memory.ts'

const samples = (mibAt: (second: number) => number): MemorySample[] =>
  Array.from({ length: 61 }, (_, second) => [second, mibAt(second)])

test('what grows while it warms up and stays then is flat', () => {
  expect(
    checkMemory(
      samples((second) => Math.min(100 + second * 10, 250)),
      0,
    ),
  ).toEqual({
    startMib: 100,
    warmMib: 250,
    endMib: 250,
    mostMib: 250,
    mibPerMinute: 0,
    isFlat: true,
  })
})

test('what goes on growing is not', () => {
  expect(
    checkMemory(
      samples((second) => 100 + second),
      0,
    ),
  ).toMatchObject({ mibPerMinute: 60, isFlat: false })
})

test('garbage that comes and goes is no growth', () => {
  expect(
    checkMemory(
      samples((second) => 200 + (second % 5) * 10),
      0,
    ),
  ).toMatchObject({ isFlat: true, mostMib: 240 })
})

test('what was before the misbehaviour does not count', () => {
  const verdict = checkMemory(
    samples((second) => (second < 30 ? 100 : 300)),
    30,
  )
  expect(verdict).toMatchObject({ startMib: 100, warmMib: 300, endMib: 300, isFlat: true })
})
