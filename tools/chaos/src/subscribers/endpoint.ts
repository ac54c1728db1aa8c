import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Outage, Post } from '../reconcile/observation.ts'
import { type Behaviour, HEALTHY } from './behaviour.ts'
import { preciseNowMs } from './clock.ts'
import { readPost } from './read-post.ts'
import { rotateSpans, type SecretSpan } from './secrets.ts'

export type RunningEndpoint = Awaited<ReturnType<typeof startEndpoint>>

const BROKEN = { status: 400, delayMs: 0 }

/** Starts a subscriber's endpoint that records each POST, in a form small enough to keep hours of them in memory. */
export async function startEndpoint(behaviour: Behaviour, seed: number, note: (post: Post) => void) {
  let server: Server | undefined
  let port = 0
  let spans: readonly SecretSpan[] = []
  /** Verifies the POSTs that arrived during a rotation; undefined if no rotation is running. */
  let postponed: (() => void)[] | undefined
  let downSinceMs = 0
  const outages: Outage[] = []
  let isBroken = behaviour.isBrokenAtFirst === true

  async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const beganAtMs = preciseNowMs()
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { post, inspect } = readPost(behaviour, incoming.headers, Buffer.concat(chunks), () => spans, beganAtMs)
    note(post)
    if (postponed === undefined) inspect()
    else postponed.push(inspect)
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
    if (downSinceMs > 0) outages.push({ endpoint: behaviour.name, fromMs: downSinceMs, toMs: Date.now() })
  }

  await comeUp()
  return {
    behaviour,
    url: `http://127.0.0.1:${port}/hook`,
    /** When its port was closed. */
    outages: outages as readonly Outage[],
    /** Sets the secret that signs its deliveries from the start. */
    expect: (secret: string): void => {
      spans = [{ secret, knownAtMs: preciseNowMs() }]
    },
    /**
     * Runs a rotation of its secret. POSTs that arrive before the answer may be signed with a secret that is not known yet,
     * so they are verified after the rotation.
     * @param request resolves to the new secret, or to undefined if nothing was rotated
     */
    rotate: async (overlapMs: number, request: () => Promise<string | undefined>): Promise<void> => {
      const requestedAtMs = preciseNowMs()
      const waiting: (() => void)[] = []
      postponed = waiting
      const secret = await request()
      if (secret !== undefined) spans = rotateSpans(spans, secret, overlapMs, requestedAtMs, preciseNowMs())
      postponed = undefined
      for (const inspect of waiting) inspect()
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
      const closed = once(leaving, 'close')
      leaving.close()
      leaving.closeAllConnections()
      await closed
      downSinceMs = Date.now()
    },
  }
}
