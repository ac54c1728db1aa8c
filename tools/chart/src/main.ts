import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { BROKER_USERS } from '@switchhook/messaging'
import { RENDERED, renderedFile, renderText, repository } from './chart.ts'
import { readSchema, readValues, valuesPage, valuesPageFile } from './values-page.ts'

/** Files of `infra` that the chart contains as copies: Helm reads no file outside of a chart, and warns of links. */
const COPIED = [
  'monitoring/alerts.yml',
  'rabbitmq/advanced.config',
  'rabbitmq/backup-definitions.mjs',
  'rabbitmq/create-users.mjs',
  'rabbitmq/members.conf',
  'rabbitmq/rabbitmq.conf',
  'redis/backup.sh',
  'redis/redis.conf',
  'redis/restore.sh',
]
const infra = (path: string): string => join(repository, 'infra', path)
const read = (path: string): string => readFileSync(infra(path), 'utf8')
const copy = (name: string, content: string): void => writeFileSync(infra(`helm/switchhook/files/${name}`), content)

for (const path of COPIED) copy(basename(path), read(path))
// In one line, without what only people need.
copy('dashboard.json', JSON.stringify(JSON.parse(read('monitoring/grafana/dashboards/switchhook.json'))))
copy('rabbitmq-users.json', `${JSON.stringify(BROKER_USERS, undefined, 2)}\n`)

for (const combination of RENDERED) {
  const file = renderedFile(combination)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, renderText(combination))
}
writeFileSync(valuesPageFile, valuesPage(readSchema(), readValues()))
