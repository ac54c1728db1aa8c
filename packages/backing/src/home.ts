import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** The one folder that holds everything a stack leaves on disk; two stacks have two homes. */
export interface Home {
  readonly path: string
  /** Short, and the same for the same folder: names what must be unique on the machine. */
  readonly id: string
  readonly runDir: string
  readonly logDir: string
  readonly dataDir: string
  pidFile(name: string): string
  /** Beside the pid file: which of all processes that ever have this pid it is. */
  identityFile(name: string): string
  logFile(name: string): string
}

/** Makes the folder where it is missing. */
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
