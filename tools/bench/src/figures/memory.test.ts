import { checkMemory, type MemorySample } from './memory.ts'

const samples = (mibAt: (second: number) => number): MemorySample[] =>
  Array.from({ length: 61 }, (_, second) => [second, mibAt(second)])

test('memory that grows during the warm-up only is flat', () => {
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

test('memory that keeps growing is not flat', () => {
  expect(
    checkMemory(
      samples((second) => 100 + second),
      0,
    ),
  ).toMatchObject({ mibPerMinute: 60, isFlat: false })
})

test('garbage that is collected is not growth', () => {
  expect(
    checkMemory(
      samples((second) => 200 + (second % 5) * 10),
      0,
    ),
  ).toMatchObject({ isFlat: true, mostMib: 240 })
})

test('samples before the misbehaviour do not count', () => {
  const verdict = checkMemory(
    samples((second) => (second < 30 ? 100 : 300)),
    30,
  )
  expect(verdict).toMatchObject({ startMib: 100, warmMib: 300, endMib: 300, isFlat: true })
})
