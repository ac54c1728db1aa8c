import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sizesOf } from './console.ts'

test('the first load is the page and the files that it names, as they are sent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'))
  const file = (name: string, text: string): [string, string] => {
    writeFileSync(join(folder, name), text)
    return [name, join(folder, name)]
  }
  const large = 'abc'.repeat(1_000)
  const page = '<script type="module" src="./assets/index-abc.js"></script>'
  const assets = new Map([file('index-abc.js', large), file('events-def.js', 'tiny')])
  const firstLoadBytes = gzipSync(page).length + gzipSync(large).length
  expect(sizesOf({ page, assets })).toEqual({ firstLoadBytes, allBytes: firstLoadBytes + 4 })
  rmSync(folder, { recursive: true })
})
