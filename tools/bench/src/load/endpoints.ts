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

export type Endpoints = Awaited<ReturnType<typeof openEndpoints>>

/**
 * Opens endpoints in a process of their own, each with an origin of its own, in groups that behave alike. Every group answers
 * immediately until `behave` changes it.
 */
export async function openEndpoints(sizes: readonly number[]) {
  const child = await startChild<{ ports: number[][] }>('endpoints-server.js', sizes.map(String))
  const take = (question: EndpointsQuestion = {}): Promise<Heard> => child.ask<Heard>(question)
  return {
    /** One list of urls for each group. */
    urls: child.ready.ports.map((ports) => ports.map((port) => `http://127.0.0.1:${port}/hook`)),
    behave: async (group: number, behaviour: Behaviour): Promise<void> =>
      void (await take({ behave: [group, behaviour] })),
    /** First POSTs and answers since the previous call. */
    take: (): Promise<Heard> => take(),
    /** Collects until a group has `count` first POSTs, or none has arrived for `patienceMs`. */
    takeOf: async (group: number, count: number, patienceMs = 5_000): Promise<readonly Arrival[]> => {
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
    stop: (): Promise<void> => child.stop(),
  }
}
