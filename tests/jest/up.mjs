import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const local = join(import.meta.dirname, '../../tools/local/dist/main.js')

/** Starts a stack as `make up` does. Without it, the runner of `make test` ends the whole run. */
export async function up(env) {
  const child = spawn(process.execPath, [local, 'up'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code === 0) return
  const cause = said.trim() || `make up ended with exit code ${code}`
  process.send?.({ kind: 'unavailable', cause })
  throw new Error(cause)
}
