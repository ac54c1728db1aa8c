import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Behaviour } from './behaviour.ts'
import { preciseNowMs } from './clock.ts'
import { inspectPost, lastingHeaders } from './inspect-post.ts'
import type { Absence, Notice, Post, Told } from './observation.ts'
import { rotateSpans, type SecretSpan } from './secrets.ts'

/** A subscriber's endpoint that notes what it gets: so little of each POST that hours of them fit into memory. */
export interface RunningEndpoint {
  readonly behaviour: Behaviour
  readonly url: string
  /** When it was away. */
  readonly absences: readonly Absence[]
  /** The secret that signs its deliveries from its creation on. */
  expect(secret: string): void
  /**
   * Runs a rotation of its secret. POSTs that arrive meanwhile may be signed with a secret that is not known yet: they are verified
   * when the rotation is over.
   * @param request resolves to the new secret, or to undefined if nothing was rotated
   */
  rotate(overlapMs: number, request: () => Promise<string | undefined>): Promise<void>
  /** From now on it answers by its behaviour alone. */
  repair(): void
  /** Nobody listens any more, and every connection is dropped. */
  leave(): Promise<void>
  /** Listens on the same port again. */
  comeBack(): Promise<void>
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
  /** Verifies the POSTs that arrived during a rotation; undefined while there is none. */
  let postponed: (() => void)[] | undefined
  let leftAtMs = 0
  const absences: Absence[] = []
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

  async function comeBack(): Promise<void> {
    if (server !== undefined) return
    const next = createServer((incoming, response) => {
      // The other side went away before its request was complete: nothing was received.
      take(incoming, response).catch(() => response.destroy())
    })
    await once(next.listen(port, '127.0.0.1'), 'listening')
    port = (next.address() as AddressInfo).port
    server = next
    if (leftAtMs > 0) absences.push({ endpoint: behaviour.name, fromMs: leftAtMs, toMs: Date.now() })
  }

  await comeBack()
  return {
    behaviour,
    url: `http://127.0.0.1:${port}/hook`,
    absences,
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
    comeBack,
    repair: () => {
      isBroken = false
    },
    leave: async () => {
      const leaving = server
      if (leaving === undefined) return
      server = undefined
      const closed = once(leaving, 'close')
      leaving.close()
      leaving.closeAllConnections()
      await closed
      leftAtMs = Date.now()
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
    attempt: Number(headers['x-svc-attempt']),
    told: toldBy(envelope),
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
    /** Of an event of our own. */
    readonly eventId?: string
    readonly callId?: string
    readonly agentUri?: string
    readonly sequence?: number
    readonly state?: number
    /** Of a notice. */
    readonly subscriptionId?: string
    readonly deliveryId?: string
    readonly eventType?: string
    readonly run?: number
    readonly since?: string
  }
}

const ENDED = 7

function toldBy({ eventType, data }: Envelope): Told {
  if (eventType.startsWith('webhook.')) return noticeOf(eventType, data)
  const { eventId, callId = '', agentUri = '', sequence = 0, state } = data
  if (eventId !== undefined) return { kind: 'own', eventId }
  if (eventType === 'agent.status') return { kind: 'agent', agentUri, sequence }
  return { kind: 'leg', callId, agentUri, sequence, isEnd: state === ENDED }
}

function noticeOf(eventType: string, data: Envelope['data']): Notice {
  const { subscriptionId = '', deliveryId = '', eventType: ofType = '', run = 0, since = '' } = data
  if (eventType === 'webhook.delivery.parked') return { kind: 'parked', subscriptionId, deliveryId, run, ofType }
  return { kind: eventType === 'webhook.endpoint.failing' ? 'failing' : 'recovered', subscriptionId, since }
}
