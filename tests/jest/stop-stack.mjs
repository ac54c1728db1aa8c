import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

export default async function stopStack() {
  const local = join(import.meta.dirname, '../../tools/local/dist/main.js')
  const down = spawn(process.execPath, [local, 'down'], { stdio: ['ignore', 'ignore', 'inherit'] })
  await once(down, 'exit')
  rmSync(process.env.SWITCHHOOK_HOME, { recursive: true, force: true })
}
