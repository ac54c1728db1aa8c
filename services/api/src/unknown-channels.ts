import { runUnknownChannels } from '@switchhook/operator'

runUnknownChannels(process.argv.slice(2))
