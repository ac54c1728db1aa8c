import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Schemas } from '@switchhook/client'
import { waitUntil } from '@switchhook/test-servers'
import { Webhook } from 'standardwebhooks'
import { verify } from './verify.ts'

type Post = Readonly<Awaited<ReturnType<typeof read>>>

/** One received POST and its answer. */
export type Arrival = Post & { readonly answer: number }

/** Of either event type, each with fields of its own. */
type Envelope = Schemas['AnyDelivery'] & {
  readonly eventType: string
  readonly data: Pick<Schemas['CallStatus'], 'agentUri' | 'callId' | 'state' | 'endReason' | 'sequence'> &
    Pick<Schemas['AgentStatus'], 'statusCode'>
}

/** Returns the status for a POST. */
type Behaviour = (post: Post) => number

export type Subscriber = Awaited<ReturnType<typeof startSubscriber>>

/**
 * The client application's side: an HTTP server with an endpoint at every path.
 * @param webhookHost how workers that are not on this machine call it; without it, it listens on loopback alone
 */
export async function startSubscriber(onArrival: (arrival: Arrival) => void, webhookHost?: string) {
  const arrivals: Arrival[] = []
  const behaviours = new Map<string, Behaviour>()
  const server = createServer((request, response) => {
    read(request).then(
      (post) => {
        const arrival = { ...post, answer: behaviours.get(post.path)?.(post) ?? 204 }
        arrivals.push(arrival)
        onArrival(arrival)
        return response.writeHead(arrival.answer).end()
      },
      () => response.destroy(),
    )
  })
  await once(server.listen(0, webhookHost === undefined ? '127.0.0.1' : '0.0.0.0'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (path: string): string => `http://${webhookHost ?? '127.0.0.1'}:${port}${path}`,
    /** Sets the answers of a path; the default is 204. */
    behave: (path: string, behaviour: Behaviour): void => void behaviours.set(path, behaviour),
    arrivals: (path?: string): readonly Arrival[] =>
      arrivals.filter((arrival) => path === undefined || arrival.path === path),
    /** @throws StepFailed if too few matching POSTs arrive in time */
    waitFor: async (what: string, count: number, isOne: (arrival: Arrival) => boolean): Promise<readonly Arrival[]> => {
      const found = (): readonly Arrival[] => arrivals.filter(isOne)
      const areThere = await waitUntil(() => found().length >= count, 30_000, 10)
      verify(areThere, `${what} (${found().length} of ${count} arrived)`)
      return found()
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      server.closeAllConnections()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function read(request: IncomingMessage) {
  const body = await text(request)
  const header = (name: string): string | undefined => request.headersDistinct[name]?.[0]
  return {
    path: request.url ?? '',
    /** ms since 1970. */
    at: Date.now(),
    contentType: header('content-type'),
    event: header('x-svc-event'),
    deliveryId: header('x-svc-delivery'),
    attempt: Number(header('x-svc-attempt')),
    body,
    /** Whether the POST has a fresh signature of this secret. */
    isSignedBy: (secret: string): boolean => isSignedBy(secret, body, request.headers),
    envelope: JSON.parse(body) as Envelope,
  }
}

function isSignedBy(secret: string, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}
