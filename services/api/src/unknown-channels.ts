import { runUnknownChannels } from './operator/unknown-channels-command.ts'

runUnknownChannels(process.argv.slice(2))
