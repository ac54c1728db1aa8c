import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** The folder that holds everything a stack stores on disk. Each stack has its own home. */
export type Home = ReturnType<typeof openHome>

/** Creates the folder if it does not exist. */
export function openHome(folder: string) {
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
    /** A short hash of the path, for names that must be unique on the machine. */
    id: createHash('sha256').update(path).digest('hex').slice(0, 10),
    runDir,
    logDir,
    dataDir,
    pidFile: (name: string): string => join(runDir, `${name}.pid`),
    /** Holds the identity of the process, because a pid can be reused (`processIdentity`). */
    identityFile: (name: string): string => join(runDir, `${name}.identity`),
    logFile: (name: string): string => join(logDir, `${name}.log`),
  }
}
