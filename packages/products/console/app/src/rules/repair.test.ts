import { repairOf } from './repair.ts'

test.each([
  ['parked', 'redeliver'],
  ['delivered', 'redeliver'],
  ['cooling-down', 'check'],
  ['waiting', 'redeliver'],
  ['not-subscribed', 'deliver'],
  ['filtered', 'deliver'],
  ['created-later', 'deliver'],
  ['disabled', 'enable'],
  ['pending', undefined],
  ['deleted', undefined],
] as const)('the verdict %s is repaired by %s', (verdict, action) => {
  expect(repairOf(verdict)?.action).toBe(action)
})

test('a verdict of a later version has no repair', () => {
  expect(repairOf('invented-later' as 'parked')).toBeNull()
})
