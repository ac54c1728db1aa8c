import { writeFileSync } from 'node:fs'
import { describeEvents } from '@switchhook/contracts'
import { describeApi } from './describe-api.ts'
import { documentPath, documentText } from './document-file.ts'

writeFileSync(documentPath('openapi.json'), documentText(describeApi()))
writeFileSync(documentPath('asyncapi.json'), documentText(describeEvents()))
