import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Home } from '../home.ts'
import { processIdentity } from './process-identity.ts'

/** Records a process of this home by name. Writes nothing if it has already ended. */
export async function writePidFile(home: Home, name: string, pid: number): Promise<void> {
  const identity = await processIdentity(pid)
  if (identity === undefined) return
  writeFileSync(home.identityFile(name), `${identity}\n`)
  writeFileSync(home.pidFile(name), `${pid}\n`)
}

/** The pid of the named process if it is running. The identity tells it from a later process with the same pid. */
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
