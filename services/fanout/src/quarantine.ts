import { runQuarantine } from './operator/quarantine-command.ts'

runQuarantine(process.argv.slice(2))
