import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Home } from '../home.ts'
import { processIdentity } from './process-identity.ts'

/** Remembers a process of this home by name, for as long as it runs. */
export async function writePidFile(home: Home, name: string, pid: number): Promise<void> {
  const identity = await processIdentity(pid)
  if (identity === undefined) return
  writeFileSync(home.identityFile(name), `${identity}\n`)
  writeFileSync(home.pidFile(name), `${pid}\n`)
}

/** The pid of the named process, if it runs. A pid that was used again since then is somebody else's. */
export async function runningPid(home: Home, name: string): Promise<number | undefined> {
  let pid: number
  let identity: string
  try {
    pid = Number(readFileSync(home.pidFile(name), 'utf8'))
    identity = readFileSync(home.identityFile(name), 'utf8').trim()
  } catch {
    return undefined
  }
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  return (await processIdentity(pid)) === identity ? pid : undefined
}

export function removePidFile(home: Home, name: string): void {
  rmSync(home.pidFile(name), { force: true })
  rmSync(home.identityFile(name), { force: true })
}
