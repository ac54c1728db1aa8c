import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fanoutFields } from './config.ts'

test('every variable stands in the README', () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8')
  expect(Object.keys(fanoutFields).filter((name) => !readme.includes(`| \`${name}\``))).toEqual([])
})
