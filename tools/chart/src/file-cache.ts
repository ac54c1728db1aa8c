import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './programs.ts'

/**
 * Keeps results as files of JSON, because every test file has modules of its own and asks for the same results.
 * @param inputs folders that the results depend on: a change of any file in them begins anew
 */
export function createFileCache<T>(name: string, inputs: readonly string[]) {
  const known = new Map<string, T>()
  let state: string | undefined

  return (key: readonly string[], make: () => T): T => {
    state ??= contentOf(inputs)
    const id = createHash('sha256')
      .update(JSON.stringify([state, key]))
      .digest('hex')
    const result = known.get(id) ?? (read(name, id) as T | undefined) ?? write(name, id, make())
    known.set(id, result)
    return result
  }
}

function contentOf(folders: readonly string[]): string {
  const hash = createHash('sha256')
  for (const folder of folders) {
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
      const path = join(folder, file)
      if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path)).update('\0')
    }
  }
  return hash.digest('hex')
}

const pathOf = (name: string, id: string): string => join(cacheFolder, name, `${id}.json`)

/** undefined: it was not kept. */
function read(name: string, id: string): unknown {
  try {
    return JSON.parse(readFileSync(pathOf(name, id), 'utf8'))
  } catch {
    return undefined
  }
}

function write<T>(name: string, id: string, result: T): T {
  mkdirSync(join(cacheFolder, name), { recursive: true })
  // Renamed when it is complete, because several test processes may write it at the same time.
  const draft = `${pathOf(name, id)}.${process.pid}`
  writeFileSync(draft, JSON.stringify(result))
  renameSync(draft, pathOf(name, id))
  return result
}
