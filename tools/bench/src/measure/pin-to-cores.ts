import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * Binds each process, with all its threads, to one core: the first process to the first core, and so on, beginning again
 * after the last core. Returns whether that worked; systems other than Linux have no `taskset`.
 */
export function pinToCores(pids: readonly number[]): boolean {
  const cores = availableParallelism()
  return pids.every((pid, index) => {
    const pinned = spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(index % cores), String(pid)])
    return pinned.status === 0
  })
}
