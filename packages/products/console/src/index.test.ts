import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConsole } from './index.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'console-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

test('a console that was not built is absent', () => {
  expect(loadConsole(folder)).toBeUndefined()
})

test('the page is read, and its files are found; files of an unknown type are left out', () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), 'page')
  for (const name of ['a.js', 'a.js.gz', 'a.map']) writeFileSync(join(folder, 'assets', name), '')
  expect(loadConsole(folder)).toEqual({ page: 'page', assets: new Map([['a.js', join(folder, 'assets/a.js')]]) })
})
