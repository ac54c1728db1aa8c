import { type Spread, spreadOf } from '../measure/statistics.ts'
import type { Arrival, Endpoints } from './endpoints.ts'
import { keepPace } from './pace.ts'

interface PacedLoad {
  readonly perSecond: number
  /** For so many ms, or as long as it answers false. */
  readonly until: number | (() => boolean)
  /** Starts the nth delivery or deliveries; their bodies contain `sentAt`. */
  readonly send: (n: number) => Promise<unknown> | void
  /** First POSTs at the observed group of endpoints that one `send` causes; 1 by default. */
  readonly perSend?: number
  readonly patienceMs?: number
}

/**
 * Sends at a fixed rate; resolves to the first POSTs at a group of endpoints.
 * @throws if POSTs are missing
 */
export async function observeArrivals(
  endpoints: Endpoints,
  group: number,
  { perSecond, until, send, perSend = 1, patienceMs }: PacedLoad,
): Promise<readonly Arrival[]> {
  const sending: Promise<unknown>[] = []
  const sent = await keepPace(perSecond, until, (n) => {
    const one = Promise.resolve(send(n))
    // Reported below, when all are sent.
    one.catch(() => {})
    sending.push(one)
  })
  await Promise.all(sending)
  const arrivals = await endpoints.takeOf(group, sent * perSend, patienceMs)
  if (arrivals.length < sent * perSend) throw new Error(`${arrivals.length} of ${sent * perSend} POSTs came`)
  return arrivals
}

/** The same; resolves to the latency of these POSTs. */
export const observeLatency = async (...load: Parameters<typeof observeArrivals>): Promise<Spread> =>
  spreadOf((await observeArrivals(...load)).map(([, , latencyMs]) => latencyMs))
