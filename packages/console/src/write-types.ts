import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { generateTypes } from './generate-types.ts'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

writeFileSync(
  path('../app/src/api/schema.d.ts'),
  await generateTypes(readFileSync(path('../../../docs/openapi.json'), 'utf8')),
)
