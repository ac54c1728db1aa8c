import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

// Run as `make chaos` runs it: built, as a process of its own.
const main = join(import.meta.dirname, '..', 'dist', 'main.js')

/** Its first three faults are kills of Redis, of the broker, and meanwhile of a worker. */
const KNOWN_SEED = 9314

test('nothing is lost, whatever strikes', async () => {
  const home = mkdtempSync(join(tmpdir(), 'chaos-'))
  try {
    const env = { ...process.env, SWITCHHOOK_HOME: home, KILLS: '3', SEED: `${KNOWN_SEED},random` }
    const chaos = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [said, [code]] = await Promise.all([text(chaos.stdout), once(chaos, 'exit')])
    // The seed that was drawn is worth knowing in any case.
    process.stderr.write(`${said.split('\n', 1)[0]}\n`)
    if (code !== 0) throw new Error(said)
    // In a container the broker and its command may be out of reach; then the run says so and goes on.
    const least = said.includes('RabbitMQ: local') ? 6 : 1
    expect(Number(/^ {2}faults +(\d+)/m.exec(said)?.[1])).toBeGreaterThanOrEqual(least)
    expect(said).toMatch(/^ {2}lost or otherwise wrong +0$/m)
    expect(Number(/^ {2}acknowledged +(\d+)$/m.exec(said)?.[1])).toBeGreaterThan(300)
    expect(said).toContain('nothing was lost')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}, 300_000)
