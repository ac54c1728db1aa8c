import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { RENDERED, renderedFile, renderText } from './chart.ts'
import { readSchema, readValues, valuesPage, valuesPageFile } from './values-page.ts'

for (const combination of RENDERED) {
  const file = renderedFile(combination)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, renderText(combination))
}
writeFileSync(valuesPageFile, valuesPage(readSchema(), readValues()))
