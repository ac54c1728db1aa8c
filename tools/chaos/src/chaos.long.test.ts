import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { temporaryFolder } from '@switchhook/test-servers'

// Runs the built program in its own process, as `make chaos` does.
const main = join(import.meta.dirname, '..', 'dist', 'main.js')

/** Without the slowest kinds: `exhaust`, `burst`, `pause` and `outage` take long; `rollback` and `empty` restart Redis. */
const FAULTS = 'kill,stop,cut,freeze,blackout,alarm,disconnect,cancel,full,refuse,clock,rotate,patch,delete'

test('no event is lost when random faults strike', async () => {
  const home = temporaryFolder('chaos-')
  try {
    const env = { ...process.env, SWITCHHOOK_HOME: home, KILLS: '4', SEED: 'random', FAULTS }
    const chaos = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [said, [code]] = await Promise.all([text(chaos.stdout), once(chaos, 'exit')])
    // The random seed is needed to repeat a failed run.
    process.stderr.write(`${said.split('\n', 1)[0]}\n`)
    if (code !== 0) throw new Error(said)
    // If RabbitMQ and Redis run in containers, some faults cannot be applied and are skipped.
    const least = said.includes('RabbitMQ: local') ? 4 : 1
    expect(Number(/^ {2}faults +(\d+)/m.exec(said)?.[1])).toBeGreaterThanOrEqual(least)
    expect(said).toMatch(/^ {2}lost or otherwise wrong +0$/m)
    expect(Number(/^ {2}acknowledged +(\d+)$/m.exec(said)?.[1])).toBeGreaterThan(300)
    expect(Number(/^ {2}kills of the receivers.* (\d+)$/m.exec(said)?.[1])).toBeGreaterThan(4)
    expect(Number(/^ {2}events that each applied exactly once +(\d+)$/m.exec(said)?.[1])).toBeGreaterThan(100)
    expect(said).toContain('nothing was lost')
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}, 600_000)
