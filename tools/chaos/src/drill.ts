import { join } from 'node:path'
import { loadConfig, text } from '@switchhook/runtime'
import { joinTestRun, leaveTestRun } from '@switchhook/test-servers'
import { DRILLS, runDrill } from './drill/drill.ts'
import { someOf } from './options.ts'
import { SETTINGS } from './settings.ts'
import { startChaosStack } from './stack/chaos-stack.ts'

/** Loses Redis, then, on a stack of its own, the broker; restores each, and checks what receivers saw (docs/backup.md). */
joinTestRun()
const config = loadConfig({ DRILLS: someOf(DRILLS), SWITCHHOOK_HOME: text('.local') }, process.env)
const home = join(config.SWITCHHOOK_HOME, 'drill')
for (const drill of config.DRILLS) {
  console.log(`\n== ${drill} lost and restored ==`)
  // The drill deletes data folders, so RabbitMQ and Redis must be programs of this machine.
  await using stack = await startChaosStack(home, { ...SETTINGS, BACKING: 'local' })
  await runDrill(drill, stack, join(home, 'backups'))
}
await leaveTestRun()
