import { atSharedWake, RARE_WAKE_MS, sharedWake } from './shared-wake.ts'

test('what waits runs at the same moment, in its order; what it leaves runs at the next one', async () => {
  const ran: string[] = []
  let turns = 0
  atSharedWake(() => {
    ran.push('first')
    setImmediate(() => (turns += 1))
    atSharedWake(() => ran.push('left'))
  })
  atSharedWake(() => ran.push(`second, ${turns} turns later`))
  await sharedWake()
  expect(ran).toEqual(['first', 'second, 0 turns later'])
  await sharedWake()
  expect(ran.at(-1)).toBe('left')
})

test('a process has one timer, also if work comes while it is late', async () => {
  let isBeating = true
  const beat = (): void => {
    if (isBeating) atSharedWake(beat)
  }
  beat()
  for (let n = 0; n < 5; n++) {
    // Later than the wake-up, before its timer can run.
    const until = performance.now() + 60
    while (performance.now() < until);
    atSharedWake(() => {})
    await sharedWake()
  }
  const set = jest.spyOn(globalThis, 'setTimeout')
  for (let n = 0; n < 5; n++) await sharedWake()
  const timers = set.mock.calls.length
  set.mockRestore()
  isBeating = false
  // One for each wake-up; each further timer would set as many.
  expect(timers).toBeLessThan(10)
})

test('what may wait longer runs at every second wake-up, with what is due then', async () => {
  const ran: string[] = []
  await sharedWake(RARE_WAKE_MS)
  atSharedWake(() => ran.push('rare'), RARE_WAKE_MS)
  atSharedWake(() => {
    ran.push('first')
    atSharedWake(() => ran.push('second'))
  })
  await sharedWake()
  expect(ran).toEqual(['first'])
  await sharedWake()
  expect(ran).toEqual(['first', 'rare', 'second'])
})
