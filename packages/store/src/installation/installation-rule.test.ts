import type { InstallationId } from '@switchhook/contracts'
import {
  type InstallationMatch,
  matchInstallation,
  originOf,
  type Ruling,
  type StoredInstallation,
} from './installation-store.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000000' as InstallationId
const B = 'bbbbbbbb-0000-4000-8000-000000000000' as InstallationId

const holding = (
  id: InstallationId,
  createdAtMs: number,
  rulings: readonly [InstallationId, Ruling][] = [],
): StoredInstallation => ({ id, createdAtMs, rulings: new Map(rulings) })

test.each<[string, StoredInstallation | undefined, InstallationMatch]>([
  ['the id of the process', holding(A, 1_000), 'same'],
  ['the id of the process with another creation time', holding(A, 1), 'same'],
  ['no id: the data is lost', undefined, 'missing'],
  ['a younger id: created in an emptied Redis', holding(B, 2_000), 'other'],
  ['an id of the same age', holding(B, 1_000), 'other'],
  ['an older id: the data was restored', holding(B, 999), 'continue'],
  ['a younger id that adopted the id of the process', holding(B, 2_000, [[A, 'adopted']]), 'continue'],
  ['a younger id that discarded the id of the process', holding(B, 2_000, [[A, 'discarded']]), 'other'],
])('a process of installation A created at 1000 ms finds %s', (_what, stored, expected) => {
  expect(matchInstallation({ id: A, createdAtMs: 1_000 }, stored)).toBe(expected)
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
