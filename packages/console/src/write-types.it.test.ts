import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A separate process, because Jest cannot import the ES modules of the generator.
test('the types of the console match docs/openapi.json; make docs writes them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-types-'))
  const target = join(folder, 'schema.d.ts')
  execFileSync(process.execPath, [join(import.meta.dirname, 'write-types.ts'), target])
  const written = readFileSync(target, 'utf8')
  rmSync(folder, { recursive: true })
  expect(readFileSync(join(import.meta.dirname, '../app/src/api/schema.d.ts'), 'utf8')).toBe(written)
})
