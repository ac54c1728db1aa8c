import { setTimeout as sleep } from 'node:timers/promises'
import type { Schemas } from '@switchhook/client'
import { createRandom } from '../faults/random.ts'
import type { Client } from '../load/client.ts'
import type { Post } from '../reconcile/observation.ts'
import { type Behaviour, chance, LAST_FAILURE } from './behaviour.ts'
import { preciseNowMs } from './clock.ts'
import { readPost } from './read-post.ts'
import { subscribe, subscriptionTo } from './subscribe.ts'

/** It dies after a life, wherever it is: in a long poll, or with deliveries that it will never answer. */
const LIFE_MS = { least: 2_000, most: 8_000 }
const DEAD_MS = { least: 200, most: 2_000 }
const HANDLES_MS = 50
const REPEAT_MS = 250
const RECEIVE = { max: 50, waitSeconds: 5, leaseSeconds: 10 }
const ACKNOWLEDGED = { status: 204 }

type Received = Schemas['ReceivedDelivery']
type Outcome = Pick<Schemas['ReportedOutcome'], 'status' | 'error' | 'release'>

interface Reported {
  readonly post: Post
  readonly item: Schemas['ReportedOutcome']
}

/**
 * Creates a pull subscription, and starts a client that receives its deliveries and reports their outcomes in batches.
 * @param calm from then on it lives, and answers everything
 */
export async function startPuller(
  client: Client,
  behaviour: Behaviour,
  seed: number,
  note: (post: Post) => void,
  calm: AbortSignal,
) {
  const { id: subscriptionId, secret } = await subscribe(client, subscriptionTo(behaviour))
  const path = `/api/v1/webhooks/subscriptions/${subscriptionId}`
  const spans = Promise.resolve([{ secret, knownAtMs: preciseNowMs() }])
  const random = createRandom(seed)
  const released = new Set<string>()
  const latest = new Map<string, Post>()
  const reports: Promise<void>[] = []
  const stopping = new AbortController()

  /** Undefined: it never answers, so the lease lapses. */
  function outcomeOf({ deliveryId, attempt }: Post): Outcome | undefined {
    const drawn = chance(seed, `${deliveryId} ${attempt}`)
    if (calm.aborted || attempt > LAST_FAILURE || drawn >= 0.25) return ACKNOWLEDGED
    if (drawn < 0.05) return undefined
    // The same attempt follows.
    if (drawn < 0.1) return released.size < released.add(deliveryId).size ? { release: true } : ACKNOWLEDGED
    return drawn < 0.2 ? { status: 503 } : { error: 'timeout' }
  }

  function take({ headers, body }: Received): Post {
    const lowercase = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    const names = Object.fromEntries(lowercase) as Record<string, string>
    const post = readPost(behaviour, names, Buffer.from(body), spans, preciseNowMs())
    note(post)
    latest.set(post.deliveryId, post)
    return post
  }

  /** Reports until it is known what became of each delivery: a repeated report shows what the first one led to. */
  async function report(batch: readonly Reported[]): Promise<void> {
    for (const { post, item } of batch) if (item.release) post.isReleased = true
    for (let open = batch; open.length > 0 && !stopping.signal.aborted; await sleep(REPEAT_MS)) {
      const { status, body } = await client.request('POST', `${path}/outcomes`, { items: open.map(({ item }) => item) })
      if (status !== 200) continue
      const results = body['items'] as Schemas['OutcomeResult'][]
      open = open.filter(({ post }, i) => {
        const { result, state } = results[i] ?? {}
        if (state === 'acknowledged') post.status = ACKNOWLEDGED.status
        return state !== 'acknowledged' && result !== 'done' && latest.get(post.deliveryId) === post
      })
    }
  }

  async function live(death: AbortSignal): Promise<void> {
    while (!death.aborted) {
      const { status, body } = await client.request('POST', `${path}/receive`, RECEIVE, {}, death)
      const items = status === 200 ? (body['items'] as Received[]) : []
      const taken = items.map((item) => ({ item, post: take(item) }))
      await sleep(status === 200 ? HANDLES_MS : REPEAT_MS)
      if (death.aborted) return
      const batch = taken.flatMap(({ item: { deliveryId, leaseToken }, post }) => {
        const outcome = outcomeOf(post)
        return outcome === undefined ? [] : [{ post, item: { deliveryId, leaseToken, ...outcome } }]
      })
      if (batch.length > 0) reports.push(report(batch))
    }
  }

  const living = (async () => {
    while (!stopping.signal.aborted) {
      const lifeMs = random.between(LIFE_MS.least, LIFE_MS.most)
      const ends = calm.aborted ? [] : [AbortSignal.timeout(lifeMs)]
      await live(AbortSignal.any([stopping.signal, ...ends]))
      if (!calm.aborted) await sleep(random.between(DEAD_MS.least, DEAD_MS.most))
    }
  })()
  return {
    ...behaviour,
    subscriptionId,
    stop: async (): Promise<void> => {
      stopping.abort()
      await living
      await Promise.all(reports)
    },
  }
}
