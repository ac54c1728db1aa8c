import { costOf, type Phase } from './backlog-cost.ts'

const cpuMs = { workers: 100, fanout: 10, broker: 200, redis: null }
const alone: Phase = { ms: 1_000, events: 10, cpuMs, published: 90, delivered: 90 }

test('a phase without additional cost costs nothing', () => {
  const twice = {
    ms: 2_000,
    events: 20,
    cpuMs: { workers: 200, fanout: 20, broker: 400, redis: null },
    published: 180,
    delivered: 180,
  }
  const nothing = { workers: 0, fanout: 0, broker: 0, redis: null }
  expect(costOf(alone, twice, 50)).toEqual({ cpuMs: nothing, published: 0, delivered: 0 })
})

test('the additional cost is divided by the deliveries of the backlog', () => {
  const beside = {
    ms: 2_000,
    events: 30,
    cpuMs: { workers: 300, fanout: 70, broker: 600, redis: 5 },
    published: 570,
    delivered: 470,
  }
  expect(costOf(alone, beside, 100)).toEqual({
    cpuMs: { workers: 1, fanout: 0.5, broker: 2, redis: null },
    published: 3,
    delivered: 2,
  })
})
