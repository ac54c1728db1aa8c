import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { startChild } from '../processes/child.ts'

/**
 * `quick`: 204 immediately. `hang`: never answers. `endless`: 200 and a body without end. `bomb`: 50 KB of gzip that are 50 MB.
 * `headers`: 60 KB of headers. `drip`: one byte a second. `one in 4`: answers so often, and hangs otherwise.
 */
export type Behaviour =
  | 'quick'
  | 'hang'
  | 'one in 2'
  | 'one in 4'
  | 'one in 10'
  | 'endless'
  | 'bomb'
  | 'headers'
  | 'drip'

/** A first POST: when its event was published, and how many ms later it was there. */
export type Arrival = readonly [sentAtMs: number, latencyMs: number]

export interface EndpointsQuestion {
  readonly behave?: readonly [group: number, behaviour: Behaviour]
}

interface Heard {
  /** At the first group of endpoints. */
  readonly arrivals: readonly Arrival[]
  readonly answered: Readonly<Partial<Record<Behaviour, number>>>
}

/** Hands over this many deliveries; resolves once they are stored. */
export type Publish = (deliveries: number) => Promise<void>

export type Endpoints = Awaited<ReturnType<typeof openEndpoints>>

const MAX_RUN_MS = 300_000
/** Rounds that do not count, until the engines have compiled what they run. */
const WARM_UP_ROUNDS = 3
const WARM_UP_DELIVERIES = 4_000
/** How long after the last POST another one is expected. */
const PATIENCE_MS = 30_000

/**
 * Opens endpoints in a process of their own, each with an origin of its own, in groups that behave alike. Every group answers
 * immediately until `behave` changes it.
 */
export async function openEndpoints(bench: Pick<Bench, 'defer'>, sizes: readonly number[]) {
  const child = await startChild<{ ports: number[][] }>(bench, 'endpoints-server.js', sizes)
  const urls = child.ready.ports.map((ports) => ports.map((port) => `http://127.0.0.1:${port}/hook`))
  /** First POSTs and answers since the previous call. */
  const take = (question: EndpointsQuestion = {}): Promise<Heard> => child.ask<Heard>(question)
  /** Publishes and waits until that many POSTs were answered. Resolves to POSTs per second. */
  async function timePosts(publish: Publish, deliveries: number): Promise<number> {
    await take()
    const startedAt = performance.now()
    await publish(deliveries)
    for (let posts = 0; ; await sleep(10)) {
      posts += (await take()).answered.quick ?? 0
      if (posts >= deliveries) return Math.round((deliveries * 1_000) / (performance.now() - startedAt))
      if (performance.now() - startedAt > MAX_RUN_MS) throw new Error(`${posts} of ${deliveries} POSTs came`)
    }
  }
  return {
    pid: child.pid,
    /** One list of urls for each group. */
    urls,
    url: urls[0]?.[0] ?? '',
    behave: async (group: number, behaviour: Behaviour): Promise<void> =>
      void (await take({ behave: [group, behaviour] })),
    take: (): Promise<Heard> => take(),
    /** Collects until the first group has `count` first POSTs, or no more arrive. */
    takeArrivals: async (count: number): Promise<readonly Arrival[]> => {
      const taken: Arrival[] = []
      let lastAt = performance.now()
      while (taken.length < count && performance.now() - lastAt < PATIENCE_MS) {
        const { arrivals } = await take()
        if (arrivals.length > 0) lastAt = performance.now()
        taken.push(...arrivals)
        await sleep(50)
      }
      return taken
    },
    timePosts,
    /** Resolves to the rate of the last round. */
    warmUp: async (publish: Publish): Promise<number> => {
      let perSecond = 0
      for (let round = 0; round < WARM_UP_ROUNDS; round++) perSecond = await timePosts(publish, WARM_UP_DELIVERIES)
      return perSecond
    },
  }
}
