import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../processes/child.ts'

/**
 * `quick`: 204 immediately. `hang`: never answers. `endless`: 200 and a body without end. `bomb`: 50 KB of gzip that are 50 MB.
 * `headers`: 60 KB of headers. `drip`: one byte a second.
 */
export type Behaviour = 'quick' | 'hang' | 'endless' | 'bomb' | 'headers' | 'drip'

/** A first POST: the group of its endpoint, when its event was published, and how many ms later it was there. */
export type Arrival = readonly [group: number, sentAtMs: number, latencyMs: number]

export interface EndpointsQuestion {
  readonly behave?: readonly [group: number, behaviour: Behaviour]
}

interface Heard {
  readonly arrivals: readonly Arrival[]
  readonly answered: Readonly<Partial<Record<Behaviour, number>>>
}

/** Endpoints in a process of their own, each with an origin of its own, in groups that behave alike. */
export interface Endpoints {
  /** One list of urls for each group. */
  readonly urls: readonly (readonly string[])[]
  behave(group: number, behaviour: Behaviour): Promise<void>
  /** First POSTs and answers since the previous call. */
  take(): Promise<Heard>
  /** Collects until a group has `count` first POSTs, or none has arrived for `patienceMs`. */
  takeOf(group: number, count: number, patienceMs?: number): Promise<readonly Arrival[]>
  stop(): Promise<void>
}

/** Every group answers immediately until `behave` changes it. */
export async function openEndpoints(sizes: readonly number[]): Promise<Endpoints> {
  const child = await startChild<{ ports: number[][] }>('endpoints-server.js', sizes.map(String))
  const take = (question: EndpointsQuestion = {}): Promise<Heard> => child.ask<Heard>(question)
  return {
    urls: child.ready.ports.map((ports) => ports.map((port) => `http://127.0.0.1:${port}/hook`)),
    behave: async (group, behaviour) => void (await take({ behave: [group, behaviour] })),
    take: () => take(),
    takeOf: async (group, count, patienceMs = 5_000) => {
      const taken: Arrival[] = []
      let lastAt = performance.now()
      while (taken.length < count && performance.now() - lastAt < patienceMs) {
        const { arrivals } = await take()
        const own = arrivals.filter(([of]) => of === group)
        if (own.length > 0) lastAt = performance.now()
        taken.push(...own)
        await sleep(50)
      }
      return taken
    },
    stop: () => child.stop(),
  }
}
