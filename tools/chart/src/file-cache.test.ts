import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, createFileCache } from './file-cache.ts'

test('a result is made once, also for another user of the cache, until an input changes', () => {
  const [name, folder] = [`test-${randomUUID()}`, mkdtempSync(join(tmpdir(), 'file-cache-'))]
  let made = 0
  const ask = (...key: string[]): number => createFileCache<number>(name, [folder])(key, () => ++made)
  try {
    writeFileSync(join(folder, 'values.yaml'), 'a: 1')
    expect([ask('one'), ask('one'), ask('two'), ask('one', 'two')]).toEqual([1, 1, 2, 3])
    writeFileSync(join(folder, 'values.yaml'), 'a: 2')
    expect([ask('one'), ask('one')]).toEqual([4, 4])
    writeFileSync(join(folder, 'more.yaml'), '')
    expect(ask('one')).toBe(5)
  } finally {
    rmSync(folder, { recursive: true })
    rmSync(join(cacheFolder, name), { recursive: true, force: true })
  }
})
