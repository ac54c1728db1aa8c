import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configurationPage } from './configuration-page.ts'
import { SERVICES } from './services.ts'

writeFileSync(fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url)), configurationPage(SERVICES))
