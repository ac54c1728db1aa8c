import { readFileSync } from 'node:fs'
import { parseObjects } from '@switchhook/manifests'
import { problemsOf } from './schemas.ts'

// Runs as a separate process, because the schemas are ES modules, which Jest cannot import. Takes files, prints problems.
const problems: string[] = []
let objects = 0
for (const file of process.argv.slice(2)) {
  for (const object of parseObjects(readFileSync(file, 'utf8'))) {
    objects += 1
    for (const problem of await problemsOf(object)) {
      problems.push(`${file} ${object.kind} ${object.metadata.name}: ${problem}`)
    }
  }
}
process.stdout.write(JSON.stringify({ objects, problems }))
