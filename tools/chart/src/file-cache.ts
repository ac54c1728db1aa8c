import { createHash, hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const repository = join(import.meta.dirname, '..', '..', '..')
export const cacheFolder = join(repository, 'node_modules', '.cache', 'switchhook')

/**
 * Keeps results as files of JSON, because every test file has modules of its own and asks for the same results.
 * @param inputs folders that the results depend on: a change of any file in them begins anew
 */
export function createFileCache<T>(name: string, inputs: readonly string[]) {
  let state: string | undefined
  return (key: readonly string[], make: () => T): T => {
    state ??= contentOf(inputs)
    const file = join(cacheFolder, name, `${hash('sha256', JSON.stringify([state, key]))}.json`)
    keepFile(file, () => JSON.stringify(make()))
    return JSON.parse(readFileSync(file, 'utf8')) as T
  }
}

function contentOf(folders: readonly string[]): string {
  const digest = createHash('sha256')
  for (const folder of folders) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
      const path = join(folder, file)
      if (statSync(path).isFile()) digest.update(`${file}\0`).update(readFileSync(path)).update('\0')
    }
  }
  return digest.digest('hex')
}

/** Makes a file unless it is there. */
export function keepFile(file: string, make: () => string | Uint8Array, mode = 0o644): void {
  if (existsSync(file)) return
  const content = make()
  mkdirSync(dirname(file), { recursive: true })
  // Renamed when it is complete, because several test processes may make it at the same time.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, content, { mode })
  renameSync(draft, file)
}
