export { runInstallation } from './installation.ts'
export { runQuarantine } from './quarantine.ts'
export { runUnknownChannels } from './unknown-channels.ts'
export { runWatchAsterisk } from './watch-asterisk.ts'
