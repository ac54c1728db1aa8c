import { startService } from '@switchhook/service'
import { workerFields, workerRules } from './config.ts'
import { startWorker } from './worker.ts'

startService({ name: 'delivery-worker', fields: workerFields, rules: workerRules }, startWorker)
