import { existsSync, globSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { composeProvider } from '../compose-provider.ts'
import { openHome } from '../home.ts'
import { type MarkedProcess, markedProcesses } from './marked-processes.ts'

export interface Leftovers {
  readonly processes: readonly string[]
  readonly files: readonly string[]
}

/** 10 s: a killed RabbitMQ on a busy machine still writes for seconds. */
const ROUNDS = 400
const BETWEEN_ROUNDS_MS = 25

/**
 * Ends the processes that carry the mark, and removes the folder of that name in each place. All data there is discarded, so
 * nothing needs time to stop. A process is not found while it starts another program, and can write files again meanwhile:
 * this looks until it finds neither processes nor files.
 * @param mark a path below each place: that of a test run, or of a part of it
 */
export async function clear(mark: string, places: readonly string[]): Promise<Leftovers> {
  const processes = new Set<string>()
  const files = new Set<string>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const marked = await markedProcesses(mark)
    for (const each of marked) {
      processes.add(told(each))
      end(each)
    }
    if (marked.length === 0) {
      const folders = foldersOf(mark, places)
      if (folders.length === 0) break
      for (const folder of folders) {
        for (const name of readdirSync(folder)) files.add(join(folder, name))
        await remove(folder)
      }
    } else await pause(BETWEEN_ROUNDS_MS)
  }
  return { processes: [...processes], files: [...files] }
}

/** What carries the mark now. */
export async function leftOf(mark: string, places: readonly string[]): Promise<Leftovers> {
  return { processes: (await markedProcesses(mark)).map(told), files: foldersOf(mark, places) }
}

const told = ({ pid, command }: MarkedProcess): string => `${pid} ${command}`

export const foldersOf = (mark: string, places: readonly string[]): string[] =>
  places.map((place) => join(place, mark)).filter(existsSync)

function end({ pid }: MarkedProcess): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile, or belongs to another user.
  }
}

async function remove(folder: string): Promise<void> {
  await stopContainers(folder)
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A process writes there.
    await pause(BETWEEN_ROUNDS_MS)
  }
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
