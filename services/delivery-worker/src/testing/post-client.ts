import type { Delivery, Outcome } from '@switchhook/contracts'
import { startDeadline } from '@switchhook/runtime'
import { createPostClient, type PostOptions } from '../http/post.ts'
import { createPostUnderLease } from '../http/post-under-lease.ts'

export type TestPostClient = ReturnType<typeof aPostClient>

/** A client that makes single attempts, under a lease that does not end. */
export function aPostClient(options: PostOptions) {
  const client = createPostClient(options)
  const postUnderLease = createPostUnderLease({
    writeWithin: client.writeWithin,
    startDeadline: () => startDeadline(options.timeoutMs),
    renew: () => Promise.reject(new Error('a lease without an end has expired')),
    nowMs: () => performance.now(),
  })
  async function post(delivery: Delivery, attempt: number): Promise<Outcome> {
    const posted = await postUnderLease(delivery, attempt, Infinity)
    if (posted.kind !== 'posted') throw new Error(`the delivery is ${posted.kind}`)
    return posted.outcome
  }
  return { ...client, post }
}
