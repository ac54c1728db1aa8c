import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openHome, processIdentity } from '@switchhook/test-servers'

/** Another command works on the same home. */
export class HomeInUse extends Error {
  override readonly name = 'HomeInUse'
}

interface Holder {
  readonly command: string
  readonly pid: number
  readonly identity: string
}

/**
 * Runs a command that starts or stops processes, unless another one does so in the same place of the same home. The file of
 * a command that was killed is replaced.
 * @throws HomeInUse
 */
export async function holdHome<T>(folder: string, place: string, command: string, work: () => Promise<T>): Promise<T> {
  const file = join(openHome(folder).path, `${place}.command.json`)
  const own = `${file}.${process.pid}`
  const identity = (await processIdentity(process.pid)) ?? ''
  const take = (): boolean => {
    writeFileSync(own, JSON.stringify({ command, pid: process.pid, identity } satisfies Holder))
    try {
      // Unlike a write, it fails if the file exists, and never leaves a part of it.
      linkSync(own, file)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return false
    } finally {
      rmSync(own, { force: true })
    }
  }
  while (!take()) {
    const found = readFileSync(file, 'utf8')
    const holder = JSON.parse(found) as Holder
    if ((await processIdentity(holder.pid)) === holder.identity) {
      throw new HomeInUse(`${holder.command} is running here already (process ${holder.pid}); wait until it has ended`)
    }
    renameSync(file, own)
    // Between the two lines, another command may have replaced the file.
    if (readFileSync(own, 'utf8') !== found) linkSync(own, file)
    rmSync(own)
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}
