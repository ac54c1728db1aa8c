import type { InstallationId } from '@switchhook/contracts'
import { mayContinue, originOf, type Ruling, type StoredInstallation } from './installation-store.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000000' as InstallationId
const B = 'bbbbbbbb-0000-4000-8000-000000000000' as InstallationId

const holding = (
  id: InstallationId,
  createdAtMs: number,
  rulings: readonly [InstallationId, Ruling][] = [],
): StoredInstallation => ({ id, createdAtMs, rulings: new Map(rulings) })

test.each<[string, StoredInstallation | undefined, boolean]>([
  ['the id of the process', holding(A, 1_000), true],
  ['the id of the process with another creation time', holding(A, 1), true],
  ['no id: the data is lost', undefined, false],
  ['a younger id: created in an emptied Redis', holding(B, 2_000), false],
  ['an id of the same age', holding(B, 1_000), false],
  ['an older id: the data was restored', holding(B, 999), true],
  ['a younger id that adopted the id of the process', holding(B, 2_000, [[A, 'adopted']]), true],
  ['a younger id that discarded the id of the process', holding(B, 2_000, [[A, 'discarded']]), false],
])('a process of installation A created at 1000 ms finds %s', (_what, stored, expected) => {
  expect(mayContinue({ id: A, createdAtMs: 1_000 }, stored)).toBe(expected)
})

test.each<[string, StoredInstallation, ReturnType<typeof originOf>]>([
  ['the same id', holding(A, 1), 'own'],
  ['another id', holding(B, 1), 'foreign'],
  ['another id that adopted it', holding(B, 1, [[A, 'adopted']]), 'adopted'],
  ['another id that discarded it', holding(B, 1, [[A, 'discarded']]), 'discarded'],
  ['the same id, discarded by mistake', holding(A, 1, [[A, 'discarded']]), 'own'],
])('a message of installation A meets a Redis with %s', (_what, stored, expected) => {
  expect(originOf(A, stored)).toBe(expected)
})
