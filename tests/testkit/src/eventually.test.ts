import { eventually } from './eventually.ts'
import { stall } from './stall.ts'

test('returns the result of the first attempt that does not throw', async () => {
  let calls = 0
  const answer = await eventually(
    () => {
      calls += 1
      if (calls < 3) throw new Error('not yet')
      return calls
    },
    { intervalMs: 1 },
  )
  expect(answer).toBe(3)
})

test('rejects with the last error after the timeout', async () => {
  let calls = 0
  const failing = eventually(
    async () => {
      calls += 1
      throw new Error(`call ${calls}`)
    },
    { timeoutMs: 20, intervalMs: 1 },
  )
  await expect(failing).rejects.toThrow(/^call \d+$/)
  await expect(failing).rejects.toThrow(`call ${calls}`)
})

test('repeats an assertion that takes long after a longer pause', async () => {
  let calls = 0
  const failing = eventually(
    () => {
      calls += 1
      stall(25)
      throw new Error('not yet')
    },
    { timeoutMs: 500 },
  )
  await expect(failing).rejects.toThrow('not yet')
  // Every 45 ms there would be eleven.
  expect(calls).toBeLessThan(8)
})

test('waits as long as the failures differ, and not much longer', async () => {
  const failures = ['one', 'two', 'three', 'four', 'four']
  let calls = 0
  const failing = eventually(
    () => {
      calls += 1
      stall(25)
      throw new Error(failures[calls - 1] ?? 'four')
    },
    { idleMs: 50, intervalMs: 1 },
  )
  await expect(failing).rejects.toThrow('four')
  expect(calls).toBeGreaterThan(4)
  expect(calls).toBeLessThan(9)
})
