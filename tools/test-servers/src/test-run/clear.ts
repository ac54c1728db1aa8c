import { globSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { composeProvider } from '../compose-provider.ts'
import { openHome } from '../home.ts'
import { type MarkedProcess, markedProcesses } from './marked-processes.ts'

export interface Leftovers {
  readonly processes: readonly string[]
  readonly files: readonly string[]
}

/** A killed process starts no further one. Those that it started while it was killed are found in the next round. */
const ROUNDS = 200
const BETWEEN_ROUNDS_MS = 25

/**
 * Ends the processes that carry the mark, and removes the folder of that name in each place. All data there is discarded, so
 * nothing needs time to stop.
 * @param mark a path below each place: that of a test run, or of a part of it
 */
export async function clear(mark: string, places: readonly string[]): Promise<Leftovers> {
  const processes = await endProcesses(mark)
  const files = places.flatMap((place) => listed(join(place, mark)))
  for (const place of places) {
    const folder = join(place, mark)
    await stopContainers(folder)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { processes, files }
}

async function endProcesses(mark: string): Promise<string[]> {
  const found = new Map<number, MarkedProcess>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const marked = await markedProcesses(mark)
    if (marked.length === 0) break
    for (const each of marked) {
      found.set(each.pid, each)
      try {
        process.kill(each.pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile, or belongs to another user.
      }
    }
    await pause(BETWEEN_ROUNDS_MS)
  }
  return [...found.values()].map(({ pid, command }) => `${pid} ${command}`)
}

/** The processes of a container do not carry the mark. */
async function stopContainers(folder: string): Promise<void> {
  for (const file of globSync('**/data/compose-ports.json', { cwd: folder })) {
    const home = openHome(join(folder, dirname(dirname(file))))
    await composeProvider(home, () => {}, { discardData: true })
      .stop()
      .catch((error: unknown) => process.stderr.write(`${String(error)}\n`))
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}
