import { startService } from '@switchhook/service'
import { fanoutFields } from './config.ts'
import { startFanout } from './fanout.ts'

startService({ name: 'fanout', fields: fanoutFields }, startFanout)
