import { runInstallation } from '@switchhook/operator'

runInstallation(process.argv.slice(2))
