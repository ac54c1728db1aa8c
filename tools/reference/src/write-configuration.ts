import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configurationPage, SERVICES } from './configuration-page.ts'

writeFileSync(fileURLToPath(new URL('../../../docs/configuration.md', import.meta.url)), configurationPage(SERVICES))
