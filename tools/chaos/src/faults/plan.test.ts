import { describeFault, FAULT_KINDS, type Fault, nameOfKind, planFaults } from './plan.ts'

const seeds = Array.from({ length: 50 }, (_, seed) => seed)

test('the same seed plans the same faults, and another seed plans others', () => {
  expect(planFaults(123, 30)).toEqual(planFaults(123, 30))
  expect(planFaults(124, 30)).not.toEqual(planFaults(123, 30))
})

test('a longer plan begins with the shorter one', () => {
  expect(planFaults(5, 40).slice(0, 10)).toEqual(planFaults(5, 10))
})

test('29 faults contain every kind', () => {
  for (const seed of seeds) {
    const kinds = new Set(planFaults(seed, 29).map(({ fault }) => `${fault.kind} ${fault.target.replace(/-\d$/, '')}`))
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
    expect(new Set([...kinds].map((kind) => kind.split(' ')[0]))).toEqual(new Set(FAULT_KINDS))
  }
})

test.each(FAULT_KINDS)('%s can be picked by name', (kind) => {
  expect(new Set(planFaults(7, 20, [kind]).map(({ fault }) => fault.kind))).toEqual(new Set([kind]))
})

test('a fault that restores an older Redis, shifts a clock, deletes a queue or takes long never overlaps', () => {
  for (const seed of seeds) {
    const plan = planFaults(seed, 200)
    for (const [at, { fault, overlaps }] of plan.entries()) {
      if (!['rollback', 'empty', 'clock', 'cancel', 'outage'].includes(fault.kind)) continue
      expect(overlaps).toBe(false)
      expect(plan[at + 1]?.overlaps ?? false).toBe(false)
    }
  }
})

test.each([
  ['api', -4_000, 50_000],
  ['fanout', -50_000, 50_000],
  ['delivery-worker', -50_000, 50_000],
])('the clock of %s is shifted by %i to %i ms', (service, leastMs, mostMs) => {
  const shifts = planFaults(1, 400, ['clock']).flatMap(({ fault }) =>
    fault.kind === 'clock' && fault.target.startsWith(service) ? [fault.shiftMs] : [],
  )
  expect(Math.min(...shifts)).toBeGreaterThanOrEqual(leastMs)
  expect(Math.min(...shifts)).toBeLessThan(leastMs * 0.8)
  expect(Math.max(...shifts)).toBeLessThanOrEqual(mostMs)
  expect(Math.max(...shifts)).toBeGreaterThan(mostMs * 0.8)
})

test('every replica is killed eventually, and no process that does not exist', () => {
  const killed = new Set(planFaults(1, 600).flatMap(({ fault }) => (fault.kind === 'kill' ? [fault.target] : [])))
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

test('some faults overlap with the previous one: never the first, never three at a time, never on one target', () => {
  for (const seed of seeds) {
    const plan = planFaults(seed, 100)
    const overlapping = plan.flatMap((planned, at) => (planned.overlaps ? [at] : []))
    expect(overlapping.length).toBeGreaterThan(3)
    for (const at of overlapping) {
      expect(plan[at - 1]).toMatchObject({ overlaps: false })
      const targets = [plan[at - 1]?.fault.target, plan[at]?.fault.target]
      expect(targets[0]).not.toBe(targets[1])
      expect(targets).not.toContain('everything')
    }
  }
})

test.each<[Fault, string, string]>([
  [{ kind: 'kill', target: 'api-2' }, 'kill -9 api-2', 'kill -9 api'],
  [{ kind: 'kill', target: 'redis' }, 'kill -9 redis', 'kill -9 redis'],
  [
    { kind: 'freeze', target: 'redis', forMs: 2_340 },
    'connections to redis frozen for 2.3 s',
    'connections to redis frozen',
  ],
  [
    { kind: 'clock', target: 'delivery-worker-2', shiftMs: -5_000, forMs: 1_000 },
    'clock of delivery-worker-2 off for 1.0 s, by -5.0 s',
    'clock of delivery-worker off',
  ],
  [
    { kind: 'rollback', target: 'redis', ageMs: 1_500 },
    'redis restored from a copy for 1.5 s of lost writes',
    'redis restored from a copy',
  ],
  [{ kind: 'rotate', target: 'slow', overlapSeconds: 10 }, 'secret of slow rotated', 'secret rotated'],
  [
    { kind: 'patch', target: 'guest', change: 'enabled', forMs: 700 },
    'subscription disabled for 0.7 s',
    'subscription disabled',
  ],
])('%j is described as "%s" and counted as "%s"', (fault, description, kind) => {
  expect(describeFault(fault)).toBe(description)
  expect(nameOfKind(fault)).toBe(kind)
})
