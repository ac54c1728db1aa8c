import { setTimeout as sleep } from 'node:timers/promises'

/**
 * An open loop: so many a second whether or not the last one has been dealt with, so that a service that stalls meets what
 * has come meanwhile. Resolves to how many were sent until it was over.
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
