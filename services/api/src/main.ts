import { startService } from '@switchhook/service'
import { apiFields, apiRules } from './config.ts'
import { startApi } from './start-api.ts'

startService({ name: 'api', fields: apiFields, rules: apiRules }, async (service) => {
  const { port, checks, optional } = await startApi(service)
  return { readiness: checks, optional, details: { port } }
})
