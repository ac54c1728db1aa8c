import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The version of Switchhook, as in its tag and its images. `make release` writes it into this package's manifest. */
export const VERSION: string = (
  JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as { readonly version: string }
).version
