import { readdirSync, readFileSync } from 'node:fs'
import { TICK_MS, ticksOf } from '../measure/process-usage.ts'

/** Processor time by group of threads, in ms. */
export type ThreadTimes = Readonly<Record<string, number>>

/** The threads of a RabbitMQ node, by the beginning of their names. */
const ERLANG_THREADS = {
  'Erlang code and its system calls': /^(?:erts_sched|\d+_scheduler)/,
  'disk: write and fsync of the log': /^(?:erts_dios|\d+_dirty_io)/,
  'large computations of Erlang': /^(?:erts_dcpus|\d+_dirty_cpu)/,
  'sockets: waiting for input': /^(?:erts_poll|\d+_poller)/,
} as const

/** Processor time so far of the threads of these processes, by the group that `groupOf` assigns; undefined: left out. */
function threadTimes(
  pids: readonly number[],
  groupOf: (thread: string, isMain: boolean) => string | undefined,
): ThreadTimes {
  const times: Record<string, number> = {}
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const stat = readStat(`/proc/${pid}/task/${thread}/stat`)
      if (stat === undefined) continue
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
      const group = groupOf(name, Number(thread) === pid)
      if (group === undefined) continue
      times[group] = (times[group] ?? 0) + ticksOf(stat) * TICK_MS
    }
  }
  return times
}

/** A thread may end at any time. */
function readStat(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

export const MAIN_THREAD = 'main thread'

/** V8's sampling profiler itself. */
const PROFILER_THREAD = /^(?:v8:Prof|SignalInspector)/

/** Node: the main thread, and all others (garbage collector, compiler, libuv). The profiler's own thread is left out. */
export const nodeThreads = (pids: readonly number[]): ThreadTimes =>
  threadTimes(pids, (name, isMain) => {
    if (isMain) return MAIN_THREAD
    return PROFILER_THREAD.test(name) ? undefined : 'other threads: garbage collector, compiler'
  })

export const erlangThreads = (pids: readonly number[]): ThreadTimes =>
  threadTimes(
    pids,
    (name) => Object.entries(ERLANG_THREADS).find(([, pattern]) => pattern.test(name))?.[0] ?? 'other threads',
  )

export const redisThreads = (pids: readonly number[]): ThreadTimes =>
  threadTimes(pids, (_name, isMain) => (isMain ? MAIN_THREAD : 'other threads'))
