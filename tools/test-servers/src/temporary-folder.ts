import { chmodSync, mkdirSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Linux keeps the files of this folder in memory. */
const IN_MEMORY = '/dev/shm'
/** More than the servers of a whole test run store. A container often has 64 MB there. */
const NEEDED_BYTES = 4 * 1024 ** 3

/**
 * Creates a folder for servers whose data is discarded, in memory if there is room. RabbitMQ and Redis confirm a write only
 * when it is on the disk, which takes milliseconds and tells a test nothing: the machine does not crash.
 */
export const temporaryFolder = (prefix: string, inMemory = IN_MEMORY): string =>
  temporaryFolderIn(hasRoom(inMemory) ? inMemory : tmpdir(), prefix)

/**
 * Creates a temporary folder in a place that need not be that of `tmpdir()`. During a test run it lies in the folder of the
 * run (`openTestRun`), which every user may pass through.
 */
export function temporaryFolderIn(place: string, prefix: string): string {
  const run = process.env['TEST_RUN']
  if (run === undefined || place === tmpdir()) return mkdtempSync(join(place, prefix))
  return mkdtempSync(join(makePassage(join(place, run)), prefix))
}

/** Creates a folder and the one above it, such that all users may pass through both, whatever the umask. */
export function makePassage(folder: string): string {
  mkdirSync(folder, { recursive: true })
  for (const each of [dirname(folder), folder]) chmodSync(each, 0o711)
  return folder
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
