import { setTimeout as sleep } from 'node:timers/promises'
import { type QueueDepth } from '@switchhook/messaging'

export interface DepthWatchDeps {
  readonly look: (queues: readonly string[]) => Promise<readonly QueueDepth[]>
  /** The queues that matter now; none: nothing is read. */
  readonly wanted: () => readonly string[]
  /** Called with the depths after each look. A queue that was not read is missing. */
  readonly seen: (depths: ReadonlyMap<string, QueueDepth>) => void
  readonly everyMs: number
}

export interface DepthWatch {
  stop(): Promise<void>
}

/** Reads the depths of queues at intervals. When they cannot be read, the last ones stay in force. */
export function startDepthWatch({ look, wanted, seen, everyMs }: DepthWatchDeps): DepthWatch {
  const stopping = new AbortController()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const queues = wanted()
      if (queues.length > 0) {
        await look(queues).then(
          (depths) => seen(new Map(queues.flatMap((queue, at) => pair(queue, depths[at])))),
          () => {}, // The broker is away; publishes and consumers report it.
        )
      }
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

const pair = (queue: string, depth: QueueDepth | undefined): [string, QueueDepth][] =>
  depth === undefined ? [] : [[queue, depth]]
