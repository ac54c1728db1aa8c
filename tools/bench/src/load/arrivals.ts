import { setTimeout as sleep } from 'node:timers/promises'
import { type Spread, spreadOf } from '../measure/statistics.ts'
import type { Arrival, Endpoints } from './endpoints.ts'

/**
 * Open loop: sends at a fixed rate whether or not earlier sends are finished, so that a service that stalls meets the
 * backlog. Resolves to the number sent.
 * @param until for so many ms, or as long as it answers false
 */
export async function keepPace(
  perSecond: number,
  until: number | (() => boolean),
  send: (n: number) => void,
): Promise<number> {
  const startedAt = performance.now()
  const elapsedMs = (): number => performance.now() - startedAt
  const isOver = typeof until === 'number' ? () => elapsedMs() >= until : until
  let sent = 0
  while (!isOver()) {
    const due = Math.floor((elapsedMs() * perSecond) / 1_000) + 1
    for (; sent < due; sent++) send(sent)
    await sleep(1)
  }
  return sent
}

/**
 * Sends at a fixed rate; resolves to the first POSTs at the first group of the endpoints.
 * @param until as of `keepPace`
 * @param send starts the nth delivery or deliveries; their bodies contain `sentAt`
 * @param perSend first POSTs at the observed endpoints that one `send` causes
 * @throws if POSTs are missing
 */
export async function observeArrivals(
  endpoints: Endpoints,
  perSecond: number,
  until: number | (() => boolean),
  send: (n: number) => Promise<unknown> | void,
  perSend = 1,
): Promise<readonly Arrival[]> {
  const sending: Promise<unknown>[] = []
  const sent = await keepPace(perSecond, until, (n) => {
    const one = Promise.resolve(send(n))
    // Reported below, when all are sent.
    one.catch(() => {})
    sending.push(one)
  })
  await Promise.all(sending)
  const arrivals = await endpoints.takeArrivals(sent * perSend)
  if (arrivals.length < sent * perSend) throw new Error(`${arrivals.length} of ${sent * perSend} POSTs came`)
  return arrivals
}

/** The same; resolves to the latency of these POSTs. */
export const observeLatency = async (...load: Parameters<typeof observeArrivals>): Promise<Spread> =>
  spreadOf(latenciesOf(await observeArrivals(...load)))

const latenciesOf = (arrivals: readonly Arrival[]): readonly number[] => arrivals.map(([, latencyMs]) => latencyMs)
