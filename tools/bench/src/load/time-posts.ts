import type { Child } from '../processes/child.ts'

const MAX_RUN_MS = 300_000

/** Publishes and waits until that many POSTs were answered. Resolves to POSTs per second. */
export async function timePosts(receiver: Child, publish: () => Promise<void>, deliveries: number): Promise<number> {
  const before = (await receiver.ask())['posts'] ?? 0
  const startedAt = performance.now()
  await publish()
  for (;;) {
    const { posts = 0 } = await receiver.ask()
    if (posts - before >= deliveries) return Math.round((deliveries * 1_000) / (performance.now() - startedAt))
    if (performance.now() - startedAt > MAX_RUN_MS) throw new Error(`${posts - before} of ${deliveries} POSTs came`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
