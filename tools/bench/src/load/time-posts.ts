import type { Child } from '../processes/child.ts'

/** Publishes, waits until as many POSTs have been answered as that makes, and answers how many that is in a second. */
export async function timePosts(receiver: Child, publish: () => Promise<void>, deliveries: number): Promise<number> {
  const before = (await receiver.ask())['posts'] ?? 0
  const startedAt = performance.now()
  await publish()
  for (;;) {
    const { posts = 0 } = await receiver.ask()
    if (posts - before >= deliveries) return Math.round((deliveries * 1_000) / (performance.now() - startedAt))
    if (performance.now() - startedAt > 60_000) throw new Error(`${posts - before} of ${deliveries} POSTs came`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
