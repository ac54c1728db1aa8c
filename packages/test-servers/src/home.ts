import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** The folder that holds everything a stack stores on disk. Each stack has its own home. */
export interface Home {
  readonly path: string
  /** A short hash of the path, for names that must be unique on the machine. */
  readonly id: string
  readonly runDir: string
  readonly logDir: string
  readonly dataDir: string
  pidFile(name: string): string
  /** Holds the identity of the process, because a pid can be reused (`processIdentity`). */
  identityFile(name: string): string
  logFile(name: string): string
}

/** Creates the folder if it does not exist. */
export function openHome(folder: string): Home {
  mkdirSync(folder, { recursive: true })
  const path = realpathSync(folder)
  const inside = (name: string): string => {
    const dir = join(path, name)
    mkdirSync(dir, { recursive: true })
    return dir
  }
  const [runDir, logDir, dataDir] = [inside('run'), inside('log'), inside('data')]
  return {
    path,
    id: createHash('sha256').update(path).digest('hex').slice(0, 10),
    runDir,
    logDir,
    dataDir,
    pidFile: (name) => join(runDir, `${name}.pid`),
    identityFile: (name) => join(runDir, `${name}.identity`),
    logFile: (name) => join(logDir, `${name}.log`),
  }
}
