import { existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { temporaryFolder } from './temporary-folder.ts'

const made: string[] = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true })
})

test.each(['/nowhere', '/proc'])('without room in %s, the folder is among the other temporary files', (inMemory) => {
  const folder = temporaryFolder('folder-', inMemory)
  made.push(folder)
  expect(existsSync(folder)).toBe(true)
  expect(dirname(folder)).toBe(tmpdir())
})
