import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiDocument } from './client-operations.ts'
import { clientSources } from './client-sources.ts'

/** Writes the generated sources of packages/products/client, into the folder that is given or in place. */
const repository = join(import.meta.dirname, '../../..')
const [, , folder = join(repository, 'packages/products/client/src/generated')] = process.argv
const document = JSON.parse(readFileSync(join(repository, 'docs/openapi.json'), 'utf8')) as ApiDocument
for (const [name, text] of Object.entries(await clientSources(document))) writeFileSync(join(folder, name), text)
