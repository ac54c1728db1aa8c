import { setTimeout as sleep } from 'node:timers/promises'
import type { StackFile } from '@switchhook/local'

/** Longer than the broker's statistics interval, also when it is busy: 1 s as the stack configures it, 5 s by default. */
const COUNTS_LAG_MS = { local: 2_500, others: 6_000 } as const

/** The parts of the broker's management API that the figures use. */
export interface Management {
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
  async function ask<T>(method: string, path: string): Promise<T> {
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers: { authorization: `Basic ${btoa(`${username || 'guest'}:${password || 'guest'}`)}` },
    })
    if (!response.ok) throw new Error(`broker: ${method} ${path} answered ${response.status}`)
    const text = await response.text()
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  const queueNames = async (): Promise<string[]> =>
    (await ask<readonly { name: string }[]>('GET', '/queues/%2F')).map(({ name }) => name)
  /** Asks for one queue: the broker answers the list of all from a cache. */
  async function publishes(name: string): Promise<number> {
    const queue = await ask<{ message_stats?: { publish?: number } }>('GET', `/queues/%2F/${name}`)
    return queue.message_stats?.publish ?? 0
  }
  return {
    publishedTo: async (named) => {
      const names = (await queueNames()).filter((name) => named.test(name))
      return new Map(
        await settled(lagMs, () => Promise.all(names.map(async (name) => [name, await publishes(name)] as const))),
      )
    },
    purge: async (prefix) => {
      for (const name of await queueNames()) {
        if (name.startsWith(prefix)) await ask('DELETE', `/queues/%2F/${name}/contents`)
      }
    },
  }
}
