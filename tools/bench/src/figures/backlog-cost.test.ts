import { costOf, type Phase } from './backlog-cost.ts'

const cpuUs = { workers: 100_000, fanout: 10_000, rabbitmq: 200_000 }
const alone: Phase = { ms: 1_000, events: 10, cpuUs, published: 90, delivered: 90 }

test('a phase without additional cost costs nothing', () => {
  const twiceUs = { workers: 200_000, fanout: 20_000, rabbitmq: 400_000 }
  const twice = { ms: 2_000, events: 20, cpuUs: twiceUs, published: 180, delivered: 180 }
  const nothing = { workers: 0, fanout: 0, rabbitmq: 0 }
  expect(costOf(alone, twice, 50)).toEqual({ cpuMs: nothing, published: 0, delivered: 0 })
})

test('the additional cost is divided by the deliveries of the backlog', () => {
  const besideUs = { workers: 300_000, fanout: 70_000, rabbitmq: 600_000 }
  const beside = { ms: 2_000, events: 30, cpuUs: besideUs, published: 570, delivered: 470 }
  const cpuMs = { workers: 1, fanout: 0.5, rabbitmq: 2 }
  expect(costOf(alone, beside, 100)).toEqual({ cpuMs, published: 3, delivered: 2 })
})
