import { existsSync } from 'node:fs'
import * as files from './repository.ts'

test.each(Object.entries(files))('%s exists', (_name, path) => {
  expect(existsSync(path)).toBe(true)
})
