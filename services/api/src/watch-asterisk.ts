import { runWatchAsterisk } from './operator/watch-asterisk-command.ts'

runWatchAsterisk()
