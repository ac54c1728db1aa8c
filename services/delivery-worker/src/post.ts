import type { LookupFunction } from 'node:net'
import { type Delivery, type Outcome, withTrial } from '@switchhook/contracts'
import type { AddressGuard } from '@switchhook/egress'
import { Axios } from 'axios'
import { classifyError, classifyStatus } from './classify.ts'
import { openConnections } from './connections.ts'
import { createUndiciAdapter } from './undici-adapter.ts'

export interface PostOptions {
  /** Deadline of the whole attempt: name look-up, connection, TLS, sending, and the status line of the answer. */
  readonly timeoutMs: number
  /** Most connections that are open at once to one endpoint. */
  readonly maxSockets: number
  /** An address in the url itself is not looked up, and has to be judged before. */
  readonly guard: AddressGuard
  /** Finds the addresses of a host name. */
  readonly lookup: LookupFunction
  /** The headers that sign an attempt that is made now; absent: nothing is signed. */
  readonly sign?: (delivery: Delivery) => Readonly<Record<string, string>>
}

export interface PostClient {
  /** Makes one attempt. Whatever the endpoint does is an Outcome; only trouble of our own is thrown. */
  post(delivery: Delivery, attempt: number): Promise<Outcome>
  close(): Promise<void>
}

/** Sends deliveries as the specification's "Delivery request" says. Redirects are never followed, proxies never used. */
export function createPostClient({ timeoutMs, maxSockets, guard, lookup, sign }: PostOptions): PostClient {
  const connections = openConnections({ connections: maxSockets, connectTimeoutMs: timeoutMs, guard, lookup })
  // The bare class: an instance with the library's defaults merges them all into every request, at twice the cost.
  const client = new Axios({
    adapter: createUndiciAdapter(connections),
    timeout: timeoutMs,
    // The body goes out as the bytes that it is, and nobody reads the answer's.
    transformRequest: [],
    transformResponse: [],
    validateStatus: () => true,
  })

  return {
    async post(delivery, attempt) {
      const url = URL.parse(delivery.url)
      // What was accepted once may have become unusable since, by a stricter version of ours.
      if (url === null || !/^https?:$/.test(url.protocol)) return { kind: 'unreachable', reason: 'unusable-url' }
      if (!guard.allowsHost(url.hostname)) return { kind: 'unreachable', reason: 'blocked' }
      try {
        const headers = withTrial(delivery.trial, { ...headersOf(delivery, attempt), ...sign?.(delivery) })
        const { status, data } = await client.request<string | undefined>({
          method: 'post',
          url: url.href,
          data: delivery.body,
          headers,
        })
        const outcome = classifyStatus(status)
        return outcome.kind === 'answered' && data !== undefined ? { ...outcome, answer: data } : outcome
      } catch (error) {
        return classifyError(error)
      }
    },
    close: () => connections.close(),
  }
}

/**
 * Specification, "Delivery request", and the event's id, by which its owner can ask what became of it elsewhere. No
 * compressed answers: nobody reads them, and a small one can be huge inside.
 */
function headersOf(delivery: Delivery, attempt: number): Record<string, string> {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'User-Agent': 'Switchhook/1',
    'X-SVC-Event': delivery.eventType,
    'X-SVC-Event-Id': delivery.eventId,
    'X-SVC-Delivery': delivery.deliveryId,
    'X-SVC-Attempt': String(attempt),
  }
}
