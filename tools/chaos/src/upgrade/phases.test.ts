import { ORDERS, phasesOf } from './phases.ts'

test.each(ORDERS)('%s: an update and a rollback change one service at a time and end where they began', (order) => {
  const phases = phasesOf(order)
  expect(phases).toHaveLength(13)
  expect(phases.at(-1)?.fleet).toEqual(phases[0]?.fleet)
  expect(phases[6]?.fleet).toEqual({ api: ['new'], fanout: ['new'], 'delivery-worker': ['new'] })
  for (const [at, { fleet }] of phases.entries()) {
    const before = phases[at - 1]?.fleet ?? fleet
    const changed = (['api', 'fanout', 'delivery-worker'] as const).filter(
      (service) => before[service] !== fleet[service],
    )
    expect(changed.length).toBe(at === 0 ? 0 : 1)
  }
})

test('in the documented order a new api never runs next to an old fan-out or worker; in the wrong order it does', () => {
  const isMixed = (order: (typeof ORDERS)[number]): boolean =>
    phasesOf(order).some(
      ({ fleet }) =>
        fleet.api.includes('new') && (fleet.fanout.includes('old') || fleet['delivery-worker'].includes('old')),
    )
  expect(ORDERS.map(isMixed)).toEqual([false, true])
})
