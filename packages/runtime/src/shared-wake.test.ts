import { atSharedWake, sharedWake } from './shared-wake.ts'

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
