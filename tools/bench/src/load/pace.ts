import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Open loop: sends at a fixed rate whether or not earlier sends are finished, so that a service that stalls meets the
 * backlog. Resolves to the number sent.
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
