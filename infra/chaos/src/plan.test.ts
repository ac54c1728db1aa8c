import { describeFault, planFaults } from './plan.ts'

const seeds = Array.from({ length: 50 }, (_, seed) => seed)

test('the same seed plans the same faults, and another one others', () => {
  expect(planFaults(123, 30)).toEqual(planFaults(123, 30))
  expect(planFaults(124, 30)).not.toEqual(planFaults(123, 30))
})

test('a longer plan begins as the shorter one', () => {
  expect(planFaults(5, 40).slice(0, 10)).toEqual(planFaults(5, 10))
})

test('twenty faults have some of everything', () => {
  for (const seed of seeds) {
    const kinds = new Set(planFaults(seed, 20).map(({ fault }) => `${fault.kind} ${fault.target.replace(/-\d$/, '')}`))
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        'kill api',
        'kill fanout',
        'kill delivery-worker',
        'kill rabbitmq',
        'kill redis',
        'cut rabbitmq',
        'cut redis',
        'freeze rabbitmq',
        'freeze redis',
        'alarm rabbitmq',
        'blackout everything',
      ]),
    )
    expect([...kinds].some((kind) => kind.startsWith('stop '))).toBe(true)
  }
})

test('every process of a kind is struck sooner or later, and nobody else', () => {
  const killed = new Set(planFaults(1, 400).flatMap(({ fault }) => (fault.kind === 'kill' ? [fault.target] : [])))
  expect([...killed].toSorted()).toEqual([
    'api-1',
    'api-2',
    'delivery-worker-1',
    'delivery-worker-2',
    'delivery-worker-3',
    'fanout-1',
    'fanout-2',
    'rabbitmq',
    'redis',
  ])
})

test('some overlap with the one before, never the first, never three at a time, never on the same part', () => {
  for (const seed of seeds) {
    const plan = planFaults(seed, 100)
    const overlapping = plan.flatMap((planned, at) => (planned.overlaps ? [at] : []))
    expect(overlapping.length).toBeGreaterThan(5)
    for (const at of overlapping) {
      expect(plan[at - 1]).toMatchObject({ overlaps: false })
      const targets = [plan[at - 1]?.fault.target, plan[at]?.fault.target]
      expect(targets[0]).not.toBe(targets[1])
      expect(targets).not.toContain('everything')
    }
  }
})

test('a fault is told in a few words', () => {
  expect(describeFault({ kind: 'kill', target: 'api-2' })).toBe('kill -9 api-2')
  expect(describeFault({ kind: 'freeze', target: 'redis', forMs: 2_340 })).toBe('connections to redis frozen for 2.3 s')
})
