import { writeFileSync } from 'node:fs'
import { describeEvents } from '@switchhook/contracts'
import { describeApi, documentPath, documentText } from './describe-api.ts'

writeFileSync(documentPath('openapi.json'), documentText(describeApi()))
writeFileSync(documentPath('asyncapi.json'), documentText(describeEvents()))
