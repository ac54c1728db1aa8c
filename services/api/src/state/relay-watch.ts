import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@switchhook/runtime'
import type { Outbox } from '@switchhook/store'

export interface RelayWatchDeps {
  /** The name of this process's outbox. */
  readonly name: string
  readonly outbox: Pick<Outbox, 'beat' | 'takeOver'>
  /** Wakes the outbox relay. */
  readonly nudge: () => void
  readonly log: Pick<Logger, 'info'>
  readonly everyMs?: number
}

export interface RelayWatch {
  stop(): Promise<void>
}

const LOOK_EVERY_MS = 1_000
/**
 * Looks in a row that show no new sign of a relay before it counts as dead: longer than a busy machine holds up a process,
 * much shorter than the 15 s after which its events are taken over in any case.
 */
export const MOST_MISSES = 5

/**
 * Takes over the events of other processes that have died (ADR 0054). The signs are compared with each other, never with a
 * clock, and only over looks that all succeeded: after an outage of Redis no running process counts as dead.
 */
export function startRelayWatch(deps: RelayWatchDeps): RelayWatch {
  const { name, outbox, nudge, log, everyMs = LOOK_EVERY_MS } = deps
  const stopping = new AbortController()
  let seen: ReadonlyMap<string, { readonly sign: string; readonly misses: number }> = new Map()

  async function look(): Promise<void> {
    const before = seen
    seen = new Map()
    const signs = [...(await outbox.beat())].filter(([relay]) => relay !== name)
    const missesOf = (relay: string, sign: string): number => {
      const known = before.get(relay)
      return known?.sign === sign ? known.misses + 1 : 0
    }
    const now = new Map(signs.map(([relay, sign]) => [relay, { sign, misses: missesOf(relay, sign) }]))
    for (const [relay, { misses }] of now) {
      if (misses !== MOST_MISSES) continue
      const events = await outbox.takeOver(relay)
      if (events === 0) continue
      log.info('taking over the events of a process that has died', { relay, events })
      nudge()
    }
    seen = now
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // The outbox relay logs the outage.
      await look().catch(() => {})
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}
