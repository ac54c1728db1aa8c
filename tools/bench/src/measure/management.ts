import { setTimeout as sleep } from 'node:timers/promises'
import type { StackFile } from '@switchhook/local'

/** Longer than the broker's statistics interval, also when it is busy: 1 s as the stack configures it, 5 s by default. */
const COUNTS_LAG_MS = { local: 2_500, others: 6_000 } as const

/** The parts of the broker's management API that the figures use. */
export interface Management {
  readonly ask: <T>(method: string, path: string, body?: object) => Promise<T>
  /** Messages by queue, ready and unacknowledged, as of the last statistics interval. */
  depths(): Promise<ReadonlyMap<string, number>>
  /** Messages published to and delivered from all queues since the broker started, once the counters no longer grow. */
  moved(): Promise<{ readonly published: number; readonly delivered: number }>
  /** Messages published to each queue of this name since it was declared, once the counters no longer grow. */
  publishedTo(named: RegExp): Promise<ReadonlyMap<string, number>>
  /** Purges the queues whose names start with `prefix`. */
  purge(prefix: string): Promise<void>
}

/** Answers `read` once it repeats itself, after a few times at most: the broker updates its statistics at intervals. */
async function settled<T>(lagMs: number, read: () => Promise<T>): Promise<T> {
  let last = await read()
  for (let asked = 0; asked < 6; asked++) {
    await sleep(lagMs)
    const next = await read()
    if (JSON.stringify(next) === JSON.stringify(last)) return next
    last = next
  }
  return last
}

/** @throws if the stack's broker has no management API */
export function openManagement({ urls, providers }: StackFile): Management {
  const { origin, username, password } = new URL(urls.rabbitmqManagement ?? '')
  const lagMs = providers.rabbitmq === 'local' ? COUNTS_LAG_MS.local : COUNTS_LAG_MS.others
  async function ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa(`${username || 'guest'}:${password || 'guest'}`)}`,
        'content-type': 'application/json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`broker: ${method} ${path} answered ${response.status}`)
    const text = await response.text()
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  const depths = async (): Promise<ReadonlyMap<string, number>> => {
    const queues = await ask<readonly { name: string; messages?: number }[]>('GET', '/queues/%2F')
    return new Map(queues.map(({ name, messages }) => [name, messages ?? 0]))
  }
  /** Asks for one queue: the broker answers the list of all from a cache. */
  async function publishes(name: string): Promise<number> {
    const queue = await ask<{ message_stats?: { publish?: number } }>('GET', `/queues/%2F/${name}`)
    return queue.message_stats?.publish ?? 0
  }
  const moved = async () => {
    const { message_stats: stats = {} } = await ask<{ message_stats?: Record<string, number> }>('GET', '/overview')
    return { published: stats['publish'] ?? 0, delivered: stats['deliver_get'] ?? 0 }
  }
  return {
    ask,
    depths,
    moved: () => settled(lagMs, moved),
    publishedTo: async (named) => {
      const names = [...(await depths()).keys()].filter((name) => named.test(name))
      return new Map(
        await settled(lagMs, () => Promise.all(names.map(async (name) => [name, await publishes(name)] as const))),
      )
    },
    purge: async (prefix) => {
      for (const name of (await depths()).keys()) {
        if (name.startsWith(prefix)) await ask('DELETE', `/queues/%2F/${name}/contents`)
      }
    },
  }
}
