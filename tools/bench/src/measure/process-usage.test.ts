import { cpuMs, cpuTimeMs, parseMachineTicks, residentMib, ticksOf } from './process-usage.ts'

test('a name with blanks and brackets does not shift the fields', () => {
  const stat = '42 (a (b) c) S 1 42 42 0 -1 4194560 1000 0 0 0 250 50 0 0 20 0 11 0 12345 1000000 5000'
  expect(ticksOf(stat)).toBe(300)
})

test.each([
  ['0:01.50', 1_500],
  ['00:02:03', 123_000],
  ['1-02:03:04', 93_784_000],
])('ps writes %s', (text, ms) => {
  expect(cpuTimeMs(text)).toBe(ms)
})

test('this process has memory and processor time', () => {
  expect(residentMib(process.pid)).toBeGreaterThan(10)
  expect(cpuMs(process.pid)).toBeGreaterThan(0)
})

test('waiting for the disk counts as idle, and guest time is not counted twice', () => {
  expect(parseMachineTicks('cpu  10 1 5 70 4 2 3 5 9 9\ncpu0 1 1 1 1\n')).toEqual({ idle: 74, all: 100 })
})
