import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../load/client.ts'
import type { Closure, Outage, Post } from '../reconcile/observation.ts'
import { type Behaviour, type Change, HEALTHY } from './behaviour.ts'
import { caughtUpAtMs, preciseNowMs } from './clock.ts'
import { readPost } from './read-post.ts'
import { rotateSpans, type SecretSpan } from './secrets.ts'
import { rotateSecret, subscribe, subscriptionTo } from './subscribe.ts'

export type RunningEndpoint = Awaited<ReturnType<typeof startEndpoint>>

const BROKEN = { status: 400, delayMs: 0 }

/** Starts a subscriber's endpoint that records each POST, and creates its subscription. */
export async function startEndpoint(client: Client, behaviour: Behaviour, seed: number, note: (post: Post) => void) {
  const { name } = behaviour
  let server: Server | undefined
  let port = 0
  /** Pending until the api has returned the newest secret: a POST that arrives before that may be signed with it. */
  let spans: Promise<readonly SecretSpan[]>
  let downSinceMs = 0
  const outages: Outage[] = []
  const closures: Closure[] = []
  let isBroken = behaviour.isBrokenAtFirst === true

  async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const beganAtMs = preciseNowMs()
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const post = readPost(behaviour, incoming.headers, Buffer.concat(chunks), spans, beganAtMs)
    note(post)
    const { status, delayMs } = isBroken ? BROKEN : (behaviour.react?.(seed, post) ?? HEALTHY)
    const timer = setTimeout(() => {
      response.once('finish', () => (post.status = status))
      response.writeHead(status).end()
    }, delayMs)
    response.once('close', () => clearTimeout(timer))
  }

  async function comeUp(): Promise<void> {
    if (server !== undefined) return
    const next = createServer((incoming, response) => {
      // The sender disconnected before its request was complete, so nothing was received.
      take(incoming, response).catch(() => response.destroy())
    })
    await once(next.listen(port, '127.0.0.1'), 'listening')
    port = (next.address() as AddressInfo).port
    server = next
    if (downSinceMs > 0) outages.push({ endpoint: name, fromMs: downSinceMs, toMs: Date.now() })
  }

  await comeUp()
  const subscribing = subscribe(client, subscriptionTo(behaviour, `http://127.0.0.1:${port}/hook`))
  spans = subscribing.then(({ secret }) => [{ secret, knownAtMs: preciseNowMs() }])
  await spans
  const { id: subscriptionId } = await subscribing

  /** Returns when the answer had arrived. */
  async function alter(method: string, expected: readonly number[], body?: object): Promise<number> {
    const { status } = await client.insist(method, `/api/v1/webhooks/subscriptions/${subscriptionId}`, body)
    const answeredAtMs = await caughtUpAtMs()
    if (!expected.includes(status)) throw new Error(`${method} of a subscription was answered ${status}`)
    return answeredAtMs
  }

  return {
    ...behaviour,
    subscriptionId,
    /** When its port was closed. */
    outages,
    /** When its subscription must send no first attempt. */
    closures,
    /** Rotates the secret. Returns false if too many previous secrets are still active. */
    rotate: async (overlapSeconds: number): Promise<boolean> => {
      const [before, requestedAtMs] = [spans, preciseNowMs()]
      const rotating = rotateSecret(client, subscriptionId, overlapSeconds)
      spans = rotating.then(
        async (secret) => {
          const answeredAtMs = preciseNowMs()
          if (secret === undefined) return before
          return rotateSpans(await before, secret, overlapSeconds * 1_000, requestedAtMs, answeredAtMs)
        },
        () => before,
      )
      return (await rotating) !== undefined
    },
    /** Changes the subscription, and changes it back after `forMs`. */
    changeFor: async ({ change, undo, stops: eventTypes }: Change, forMs: number): Promise<void> => {
      const fromMs = await alter('PATCH', [200], change)
      await sleep(forMs)
      const toMs = preciseNowMs()
      await alter('PATCH', [200], undo)
      closures.push({ endpoint: name, eventTypes, fromMs, toMs })
    },
    unsubscribe: async (): Promise<void> => {
      // 404: an earlier try got no answer but was carried out.
      const fromMs = await alter('DELETE', [204, 404])
      closures.push({ endpoint: name, eventTypes: behaviour.eventTypes, fromMs, toMs: Number.POSITIVE_INFINITY })
    },
    /** Listens on the same port again. */
    comeUp,
    /** Ends `isBrokenAtFirst`: from now on the behaviour alone decides the answers. */
    repair: (): void => {
      isBroken = false
    },
    /** Closes the port and drops every connection. */
    goDown: async (): Promise<void> => {
      const leaving = server
      if (leaving === undefined) return
      server = undefined
      leaving.closeAllConnections()
      await leaving[Symbol.asyncDispose]()
      downSinceMs = Date.now()
    },
  }
}
