import type { LookupFunction } from 'node:net'
import { type Delivery, type Outcome, withTrial } from '@switchhook/contracts'
import type { AddressGuard } from '@switchhook/egress'
import { Axios, type AxiosRequestConfig } from 'axios'
import { classifyError, classifyStatus } from '../policy/classify.ts'
import { openConnections } from './connections.ts'
import type { LeaseExpired, PostTerms } from './post-under-lease.ts'
import { createTargets } from './targets.ts'
import { createUndiciAdapter, LeaseRanOut, preparedPost } from './undici-adapter.ts'

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
  /** Makes one attempt. Whatever the endpoint does is an Outcome; only the service's own failures are thrown. */
  post(delivery: Delivery, attempt: number): Promise<Outcome>
  /** The same, unless the lease of the terms runs out before the request is written. */
  postLeased(delivery: Delivery, attempt: number, terms: PostTerms): Promise<Outcome | LeaseExpired>
  close(): Promise<void>
}

/** Sends deliveries as the specification's "Delivery request" says. Redirects are never followed, proxies never used. */
export function createPostClient({ timeoutMs, maxSockets, guard, lookup, sign }: PostOptions): PostClient {
  const targetOf = createTargets(guard)
  const connections = openConnections({ connections: maxSockets, connectTimeoutMs: timeoutMs, guard, lookup })
  // The bare class: an instance with the library's defaults merges them all into every request, at twice the cost.
  const client = new Axios({
    adapter: createUndiciAdapter(connections),
    timeout: timeoutMs,
    // The body is sent as the bytes that it is, and the answer's excerpt is text already.
    transformRequest: [],
    transformResponse: [],
    validateStatus: () => true,
  })

  /** Rejects with what kept the answer from coming. */
  async function send(
    delivery: Delivery,
    attempt: number,
    how: Pick<AxiosRequestConfig, 'adapter' | 'timeout'>,
  ): Promise<Outcome> {
    const target = targetOf(delivery.url)
    if (target.kind !== 'target') return target
    const headers = withTrial(delivery.trial, { ...headersOf(delivery, attempt), ...sign?.(delivery) })
    const { status, data } = await client.request<string | undefined>({
      method: 'post',
      // One object, which axios passes on untouched: it would copy the headers one by one.
      data: preparedPost(target, headers, delivery.body),
      ...how,
    })
    const outcome = classifyStatus(status)
    return outcome.kind === 'answered' && data !== undefined ? { ...outcome, answer: data } : outcome
  }

  return {
    post: (delivery, attempt) => send(delivery, attempt, {}).catch(classifyError),
    async postLeased(delivery, attempt, terms) {
      try {
        const how = { adapter: createUndiciAdapter(connections, terms), timeout: terms.timeoutMs }
        return await send(delivery, attempt, how)
      } catch (error) {
        if (!(error instanceof LeaseRanOut)) return classifyError(error)
        const { broken } = error
        return { kind: 'lease-expired', ...(broken !== undefined && { broken: classifyError(broken) }) }
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
