import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConsole } from './load-console.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

test('a console that was not built is absent', () => {
  expect(loadConsole(folder)).toBeUndefined()
})

test('assets are read with their compressed forms; files of an unknown type are left out', () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), 'page')
  for (const name of ['a.js', 'a.js.br', 'a.js.gz', 'b.css', 'c.map']) writeFileSync(join(folder, 'assets', name), name)
  const files = loadConsole(folder)
  expect(files?.page).toBe('page')
  expect([...(files?.assets.keys() ?? [])].toSorted()).toEqual(['a.js', 'b.css'])
  expect(files?.assets.get('a.js')).toEqual({
    contentType: 'text/javascript; charset=utf-8',
    bytes: Buffer.from('a.js'),
    brotli: Buffer.from('a.js.br'),
    gzip: Buffer.from('a.js.gz'),
  })
  expect(files?.assets.get('b.css')).toEqual({ contentType: 'text/css; charset=utf-8', bytes: Buffer.from('b.css') })
})
