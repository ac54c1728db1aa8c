import { runWatchAsterisk } from '@switchhook/operator'

runWatchAsterisk()
