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
