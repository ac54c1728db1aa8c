import { createMeter } from './processor-cost.ts'

test('what a process computes meanwhile is told for each delivery, and nothing else', async () => {
  const meter = createMeter({ here: [process.pid], nobody: [] })
  const compute = async (forMs: number): Promise<number> => {
    const until = performance.now() + forMs
    let turns = 0
    while (performance.now() < until) turns += 1
    return turns
  }
  await expect(meter.during(() => compute(300))).resolves.toBeGreaterThan(0)
  await compute(300)
  const { here = 0, nobody } = meter.costUs(10)
  expect(here).toBeGreaterThan(10_000)
  expect(here).toBeLessThan(50_000)
  expect(nobody).toBe(0)
})
