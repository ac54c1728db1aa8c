import { runInstallation } from './operator/installation-command.ts'

runInstallation(process.argv.slice(2))
