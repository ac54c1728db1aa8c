import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

export default async function stopConsole() {
  const home = process.env.CONSOLE_TESTS_OWN
  if (home === undefined) return
  const local = join(import.meta.dirname, '../../tools/local/dist/main.js')
  const env = { ...process.env, SWITCHHOOK_HOME: home }
  const down = spawn(process.execPath, [local, 'down'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  await once(down, 'exit')
  rmSync(home, { recursive: true, force: true })
}
