import type { Delivery, Outcome } from '@switchhook/contracts'
import { startDeadline } from '@switchhook/runtime'
import { createPostClient, type PostOptions } from '../http/post.ts'

export type TestPostClient = ReturnType<typeof aPostClient>

/** A client that makes single attempts, under a lease that does not end. */
export function aPostClient(options: PostOptions) {
  const client = createPostClient(options)
  async function post(delivery: Delivery, attempt: number): Promise<Outcome> {
    const deadline = startDeadline(options.timeoutMs)
    const terms = { trustedUntilMs: Infinity, isReplay: false, deadline }
    const sent = await client.writeWithin(delivery, attempt, terms).finally(() => deadline.stop())
    if (sent.kind === 'lease-expired') throw new Error('a lease without an end has expired')
    return sent
  }
  return { ...client, post }
}
