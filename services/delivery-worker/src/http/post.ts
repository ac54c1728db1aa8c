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
  /** Maximum number of connections to one endpoint. */
  readonly maxSockets: number
  /** Checks addresses: before the attempt if the url contains one, and at every connection. */
  readonly guard: AddressGuard
  /** Looks up host names. */
  readonly lookup: LookupFunction
  /** The signature headers of an attempt that is made now. Absent: nothing is signed. */
  readonly sign?: (delivery: Delivery) => Readonly<Record<string, string>>
}

export interface PostClient {
  /** Makes one attempt. Anything that the endpoint does is an Outcome; only our own failures are thrown. */
  post(delivery: Delivery, attempt: number): Promise<Outcome>
  /** Makes one attempt, unless the lease in `terms` ends before the request is written. */
  postLeased(delivery: Delivery, attempt: number, terms: PostTerms): Promise<Outcome | LeaseExpired>
  close(): Promise<void>
}

/** Sends deliveries (specification, "Delivery request"). Never follows redirects, never uses proxies. */
export function createPostClient({ timeoutMs, maxSockets, guard, lookup, sign }: PostOptions): PostClient {
  const targetOf = createTargets(guard)
  const connections = openConnections({ connections: maxSockets, connectTimeoutMs: timeoutMs, guard, lookup })
  // The bare class: an instance with axios' defaults merges all of them into every request, which doubles its cost.
  const client = new Axios({
    adapter: createUndiciAdapter(connections),
    timeout: timeoutMs,
    // The body is already bytes, and the answer's excerpt is already text.
    transformRequest: [],
    transformResponse: [],
    validateStatus: () => true,
  })

  /** Rejects with the error if no answer arrives. */
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
      // One object that axios passes on untouched. Given separately, the headers would be copied one by one.
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
 * Specification, "Delivery request", and the event's id, with which a subscriber can look up the event's other deliveries.
 * Compressed answers are not accepted: the excerpt needs plain text, and a small compressed answer can unpack to a huge one.
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
