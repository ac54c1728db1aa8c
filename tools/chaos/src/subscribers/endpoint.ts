import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Content, Notice, Outage, Post } from '../reconcile/observation.ts'
import type { Behaviour } from './behaviour.ts'
import { preciseNowMs } from './clock.ts'
import { inspectPost, lastingHeaders } from './inspect-post.ts'
import { rotateSpans, type SecretSpan } from './secrets.ts'

/** A subscriber's endpoint that records each POST, in a form small enough to keep hours of them in memory. */
export interface RunningEndpoint {
  readonly behaviour: Behaviour
  readonly url: string
  /** When its port was closed. */
  readonly outages: readonly Outage[]
  /** Sets the secret that signs its deliveries from the start. */
  expect(secret: string): void
  /**
   * Runs a rotation of its secret. POSTs that arrive before the answer may be signed with a secret that is not known yet,
   * so they are verified after the rotation.
   * @param request resolves to the new secret, or to undefined if nothing was rotated
   */
  rotate(overlapMs: number, request: () => Promise<string | undefined>): Promise<void>
  /** Ends `isBrokenAtFirst`: from now on the behaviour alone decides the answers. */
  repair(): void
  /** Closes the port and drops every connection. */
  goDown(): Promise<void>
  /** Listens on the same port again. */
  comeUp(): Promise<void>
}

const BROKEN = { status: 400, delayMs: 0 }

export async function startEndpoint(
  behaviour: Behaviour,
  seed: number,
  note: (post: Post) => void,
): Promise<RunningEndpoint> {
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
    const body = Buffer.concat(chunks)
    const envelope = JSON.parse(body.toString()) as Envelope
    const post = readPost(behaviour.name, incoming, body, envelope, beganAtMs)
    note(post)
    const inspect = (): void => {
      post.flaws = inspectPost(incoming.headers, body, envelope, spans, beganAtMs)
    }
    if (postponed === undefined) inspect()
    else postponed.push(inspect)
    const { status, delayMs } = isBroken ? BROKEN : behaviour.react(seed, post)
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
    outages,
    expect: (secret) => {
      spans = [{ secret, knownAtMs: preciseNowMs() }]
    },
    rotate: async (overlapMs, request) => {
      const requestedAtMs = preciseNowMs()
      const waiting: (() => void)[] = []
      postponed = waiting
      const secret = await request()
      if (secret !== undefined) spans = rotateSpans(spans, secret, overlapMs, requestedAtMs, preciseNowMs())
      postponed = undefined
      for (const inspect of waiting) inspect()
    },
    comeUp,
    repair: () => {
      isBroken = false
    },
    goDown: async () => {
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

function readPost(
  endpoint: string,
  { headers }: IncomingMessage,
  body: Buffer,
  envelope: Envelope,
  beganAtMs: number,
): Post {
  return {
    endpoint,
    deliveryId: String(headers['x-svc-delivery']),
    eventId: String(headers['x-svc-event-id']),
    attempt: Number(headers['x-svc-attempt']),
    content: contentOf(envelope),
    digest: createHash('sha1').update(body).digest('base64'),
    lasting: lastingHeaders(headers),
    flaws: [],
    beganAtMs,
    atMs: Date.now(),
    occurredAtMs: Date.parse(envelope.occurredAt),
    status: null,
  }
}

interface Envelope {
  readonly deliveryId: string
  readonly eventType: string
  readonly occurredAt: string
  readonly data: {
    /** Set by `load/platform-events.ts`. */
    readonly eventId?: string
    readonly callId?: string
    readonly agentUri?: string
    readonly sequence?: number
    readonly state?: number
    /** Set in notices. */
    readonly subscriptionId?: string
    readonly deliveryId?: string
    readonly eventType?: string
    readonly run?: number
    readonly since?: string
  }
}

const ENDED = 7

function contentOf({ eventType, data }: Envelope): Content {
  if (eventType.startsWith('webhook.')) return noticeOf(eventType, data)
  const { eventId, callId = '', agentUri = '', sequence = 0, state } = data
  if (eventId !== undefined) return { kind: 'platform', eventId }
  if (eventType === 'agent.status') return { kind: 'agent', agentUri, sequence }
  return { kind: 'leg', callId, agentUri, sequence, isEnd: state === ENDED }
}

function noticeOf(eventType: string, data: Envelope['data']): Notice {
  const { subscriptionId = '', deliveryId = '', eventType: ofType = '', run = 0, since = '' } = data
  if (eventType === 'webhook.delivery.parked') return { kind: 'parked', subscriptionId, deliveryId, run, ofType }
  return { kind: eventType === 'webhook.endpoint.failing' ? 'failing' : 'recovered', subscriptionId, since }
}
