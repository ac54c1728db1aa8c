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

test('the page is read, and its files are found', () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), 'page')
  writeFileSync(join(folder, 'assets/a.js'), '')
  expect(loadConsole(folder)).toEqual({ page: 'page', assets: new Map([['a.js', join(folder, 'assets/a.js')]]) })
})
