import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { BROKER_USERS } from '@switchhook/messaging'
import { RENDERED, renderedFile, renderText, repository } from './chart.ts'
import { readSchema, readValues, valuesPage, valuesPageFile } from './values-page.ts'

writeFileSync(
  join(repository, 'infra/helm/switchhook/files/rabbitmq-users.json'),
  `${JSON.stringify(BROKER_USERS, undefined, 2)}\n`,
)

for (const combination of RENDERED) {
  const file = renderedFile(combination)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, renderText(combination))
}
writeFileSync(valuesPageFile, valuesPage(readSchema(), readValues()))
