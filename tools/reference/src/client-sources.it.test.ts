import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A separate process, because Jest cannot import the ES modules of the generator.
test('the generated sources of the client match docs/openapi.json; make docs writes them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'client-sources-'))
  execFileSync(process.execPath, ['--conditions=source', join(import.meta.dirname, 'write-client.ts'), folder])
  const filesIn = (path: string) => readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8')])
  const written = filesIn(folder)
  rmSync(folder, { recursive: true })
  expect(filesIn(join(import.meta.dirname, '../../../packages/products/client/src/generated'))).toEqual(written)
})
