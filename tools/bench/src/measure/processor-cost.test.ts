import { createMeter } from './processor-cost.ts'

test('the processor time of a process during the work is divided by the deliveries', async () => {
  const meter = createMeter({ here: [process.pid], none: [] })
  // Processor time, not wall time: the machine may be busy with something else.
  const compute = async (cpuMs: number): Promise<void> => {
    const began = process.cpuUsage()
    const spentMs = (): number => Object.values(process.cpuUsage(began)).reduce((sum, us) => sum + us, 0) / 1_000
    while (spentMs() < cpuMs);
  }
  await meter.during(() => compute(300))
  await compute(300)
  const { here = 0, none } = meter.costUs(10)
  expect(here).toBeGreaterThan(25_000)
  expect(here).toBeLessThan(50_000)
  expect(none).toBe(0)
})
