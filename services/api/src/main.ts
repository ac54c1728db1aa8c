import { startService } from '@switchhook/service'
import { startApi } from './api.ts'
import { apiFields, apiRules } from './config.ts'

startService({ name: 'api', fields: apiFields, rules: apiRules }, startApi)
