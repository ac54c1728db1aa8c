import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { makePassage } from '../temporary-folder.ts'
import { clear, foldersOf, type Leftovers, leftOf } from './clear.ts'

export type TestRun = ReturnType<typeof openTestRun>

/**
 * A run of tests has one temporary folder, with the same name in every place where tests write. The name marks each process
 * of the run: it is in its environment, arguments or working directory. A watchdog ends all of them and removes the folder
 * when `close` is called and when this process ends in any other way, SIGKILL included.
 */
export function openTestRun() {
  const id = basename(mkdtempSync(join(tmpdir(), 'sh-run-')))
  const places = [...new Set([tmpdir(), '/tmp', '/var/tmp', '/dev/shm'])].filter((place) => existsSync(place))
  const watchdog = spawn(process.execPath, [join(import.meta.dirname, `watchdog${suffix}`), id, ...places], {
    // In a session of its own, which a closed terminal and Ctrl+C do not reach.
    detached: true,
    // With the environment of the tests, it would be one of the processes that it ends.
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = once(watchdog, 'exit')
  watchdog.unref()
  return {
    id,
    /** The environment of the processes of a part of the run. They write below a folder of their own. */
    environment: (part: string): NodeJS.ProcessEnv => {
      const mark = join(id, part)
      return { TEST_RUN: mark, TMPDIR: makePassage(join(tmpdir(), mark)) }
    },
    /** Where the processes of a part write. */
    foldersOf: (part: string): readonly string[] => foldersOf(join(id, part), places),
    /** Ends the processes of a part and removes its folders. Resolves to what there was. */
    clear: (part: string): Promise<Leftovers> => clear(join(id, part), places),
    /** Ends the run. Resolves to what is left of it all the same. */
    close: async (): Promise<Leftovers> => {
      watchdog.ref()
      watchdog.stdin.end()
      await ended
      // A watchdog that was killed has ended nothing.
      await clear(id, places)
      return leftOf(id, places)
    },
  }
}

/** The sources run without a build. */
const suffix = import.meta.filename.endsWith('.ts') ? '.ts' : '.js'
