import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTypescript, { astToString } from 'openapi-typescript'

/**
 * Writes the TypeScript types of the API document, to the console's sources or to the file that is given.
 * openapi-typescript needs TypeScript 5 (its issue 2841), so this package has its own.
 */
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const [, , target = path('../app/src/api/schema.d.ts')] = process.argv

const document = readFileSync(path('../../../docs/openapi.json'), 'utf8')
const types = astToString(await openapiTypescript(document))
// Descriptions double the size of the file; the document has them.
const withoutComments = types.replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, '')
writeFileSync(target, `// Written by make docs from docs/openapi.json.\n${withoutComments}`)
