import { paced } from './paced.ts'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** A run that takes this long; notes when each began, in ms from now. */
function runs(takesMs: number) {
  const startMs = Date.now()
  const began: number[] = []
  const call = paced(async () => {
    began.push(Date.now() - startMs)
    await new Promise((resolve) => setTimeout(resolve, takesMs))
  })
  return { began, call }
}

test('calls during a run or its pause make one more run', async () => {
  const { began, call } = runs(10)
  call()
  for (let n = 0; n < 50; n++) {
    call()
    await jest.advanceTimersByTimeAsync(10)
  }
  await jest.advanceTimersByTimeAsync(10_000)
  expect(began).toEqual([0, 1_010])
  call()
  expect(began).toHaveLength(3)
})

test.each([
  ['quick', 10, 1_010],
  ['slow', 500, 5_000],
  ['very slow', 10_000, 25_000],
])('a %s run is repeated no sooner than nine times its length', async (_name, takesMs, second) => {
  const { began, call } = runs(takesMs)
  const timer = setInterval(call, 5)
  await jest.advanceTimersByTimeAsync(30_000)
  clearInterval(timer)
  expect((began[1] ?? 0) - (began[0] ?? 0)).toBe(second)
})
