import { readFileSync } from 'node:fs'
import { parseObjects } from '@switchhook/manifests'
import { problemsOf } from './schemas.ts'

// The schemas are ES modules, which tests cannot import: this is run as what it is, a process. Files in, problems out.
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
