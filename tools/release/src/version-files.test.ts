import { VERSION } from '@switchhook/runtime'
import { isVersion } from './version.ts'
import { currentVersion, versionsInFiles } from './version-files.ts'

test('every file that repeats the version has that of package.json, and services show it', () => {
  const version = currentVersion()
  expect(isVersion(version)).toBe(true)
  expect(versionsInFiles().filter(([, other]) => other !== version)).toEqual([])
  expect(versionsInFiles().map(([file]) => file)).toEqual(
    expect.arrayContaining(['package.json', 'packages/products/client/package.json', 'packages/runtime/package.json']),
  )
  expect(VERSION).toBe(version)
})
