import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux keeps the files of this folder in memory. */
const IN_MEMORY = '/dev/shm'
/** More than the servers of a whole test run store. A container often has 64 MB there. */
const NEEDED_BYTES = 4 * 1024 ** 3

/**
 * Creates a folder for servers whose data is discarded, in memory if there is room. RabbitMQ and Redis confirm a write only
 * when it is on the disk, which takes milliseconds and tells a test nothing: the machine does not crash.
 */
export const temporaryFolder = (prefix: string, inMemory = IN_MEMORY): string =>
  mkdtempSync(join(hasRoom(inMemory) ? inMemory : tmpdir(), prefix))

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
