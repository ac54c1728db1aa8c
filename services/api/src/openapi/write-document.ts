import { writeFileSync } from 'node:fs'
import { describeApi } from './describe-api.ts'
import { documentPath, documentText } from './document-file.ts'

writeFileSync(documentPath, documentText(describeApi()))
