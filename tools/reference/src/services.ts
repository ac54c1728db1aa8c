import { apiFields } from '@switchhook/api'
import { workerFields } from '@switchhook/delivery-worker'
import { fanoutFields } from '@switchhook/fanout'
import type { ServiceFields } from './configuration-page.ts'

export const SERVICES: ServiceFields = { api: apiFields, fanout: fanoutFields, 'delivery-worker': workerFields }
