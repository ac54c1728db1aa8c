import { runQuarantine } from '@switchhook/operator'

runQuarantine(process.argv.slice(2))
