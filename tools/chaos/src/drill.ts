import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig, text } from '@switchhook/runtime'
import { openBackups } from './drill/backups.ts'
import { type DrillKind, runDrill } from './drill/drill.ts'
import { someOf } from './options.ts'
import { SETTINGS } from './settings.ts'
import { startChaosStack } from './stack/chaos-stack.ts'

const say = (line: string): void => console.log(line)

const KINDS: readonly DrillKind[] = ['redis', 'broker']
const fields = { DRILLS: someOf(KINDS), SWITCHHOOK_HOME: text('.local') }

/** Loses Redis, then, on a stack of its own, the broker; restores each, and checks what receivers saw (docs/backup.md). */
async function main(): Promise<void> {
  const { DRILLS, SWITCHHOOK_HOME } = loadConfig(fields, process.env)
  const home = join(SWITCHHOOK_HOME, 'drill')
  for (const kind of DRILLS) {
    say(`\n== ${kind} lost and restored ==`)
    // The drill deletes data folders, so RabbitMQ and Redis must be programs of this machine.
    const stack = await startChaosStack(home, { ...process.env, ...SETTINGS, BACKING: 'local' }, say)
    const copies = join(SWITCHHOOK_HOME, 'drill-backups')
    mkdirSync(copies, { recursive: true })
    try {
      await runDrill(kind, stack, openBackups(copies), say)
    } finally {
      await stack.stop()
      for (const folder of [home, copies]) rmSync(folder, { recursive: true, force: true })
    }
  }
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
