import fc from 'fast-check'
import { CHOICES, type Inputs, workloadsOf } from './inputs.ts'
import { planCell } from './plan-cell.ts'

const inputs = (more: Partial<Inputs> = {}): Inputs => ({
  ...CHOICES,
  workload: {
    name: 'sample',
    deliveriesPerEvent: 10,
    costs: { workers: 200, fanout: 50, rabbitmq: 100, redis: 50 },
    seenThroughOneQueue: 12_000,
  },
  ...more,
})

test('a cell bears its lowest limit, and the cells together bear the goal', () => {
  const { limits, deliveriesPerSecond, cells, parts } = planCell(inputs())
  // Half of a core at 50 µs per delivery.
  expect(limits.map(({ resource }) => resource)[0]).toBe("Redis's one core")
  expect(deliveriesPerSecond).toBe(10_000)
  expect(cells).toBe(100)
  // 10 000 × 200 µs are two cores, planned at half their load.
  expect(parts).toMatchObject({ workers: 4, fanout: 2, cores: 19 })
})

test('less memory for Redis makes memory the first limit', () => {
  const [first] = planCell(inputs({ redis: { ...CHOICES.redis, memoryGib: 8 } })).limits
  expect(first?.resource).toContain('memory')
})

test('for any costs, the limits are sorted, no part is above its planned load, and the cells bear the goal', () => {
  const us = fc.integer({ min: 1, max: 5_000 })
  fc.assert(
    fc.property(us, us, us, us, fc.integer({ min: 1, max: 100 }), (workers, fanout, rabbitmq, redis, perEvent) => {
      const costs = { workers, fanout, rabbitmq, redis }
      const workload = { ...inputs().workload, costs, deliveriesPerEvent: perEvent }
      const { limits, deliveriesPerSecond, cells, parts } = planCell(inputs({ workload }))
      const rates = limits.map((limit) => limit.deliveriesPerSecond)
      expect(rates).toEqual(rates.toSorted((a, b) => a - b))
      expect(deliveriesPerSecond).toBe(rates[0])
      expect(cells * deliveriesPerSecond).toBeGreaterThan(CHOICES.goal.deliveriesPerSecond - 1)
      expect((deliveriesPerSecond * workers) / 1e6 / parts.workers).toBeLessThanOrEqual(CHOICES.plannedLoad + 1e-9)
    }),
  )
})

test('an unknown workload is an error that names it', () => {
  const results = JSON.stringify({ deliveries: { figure: { workloads: {} } } })
  expect(() => workloadsOf(results, ['ten to one'])).toThrow('has no workload ten to one')
})
