import type { Delivery, Outcome } from '@switchhook/contracts'
import type { AddressGuard } from '@switchhook/egress'
import { startDeadline } from '@switchhook/runtime'
import { attemptHeaders, type Signer } from '@switchhook/signing'
import { Axios } from 'axios'
import { classifyError, classifyStatus } from '../policy/classify.ts'
import { type ConnectionOptions, openConnections } from './connections.ts'
import type { LeaseExpired, PostTerms } from './post-under-lease.ts'
import { createTargets } from './targets.ts'
import { createUndiciAdapter, PreparedPost, type Sent } from './undici-adapter.ts'

export interface PostOptions extends ConnectionOptions {
  /** Deadline of the whole attempt: name look-up, connection, TLS, sending, and the status line of the answer. */
  readonly timeoutMs: number
  /** Checks addresses: before the attempt if the url contains one, and at every connection. */
  readonly guard: AddressGuard
  /** The signature headers of an attempt that is made now. Absent: nothing is signed. */
  readonly sign?: Signer['headersOf']
  /** The headers that the subscription asks for. Absent: none. */
  readonly ownHeadersOf?: (delivery: Delivery) => Readonly<Record<string, string>>
}

export interface PostClient {
  /** Makes one attempt. Anything that the endpoint does is an Outcome; only our own failures are thrown. */
  post(delivery: Delivery, attempt: number): Promise<Outcome>
  /** Makes one attempt, unless the lease in `terms` ends before the request is written. */
  postLeased(delivery: Delivery, attempt: number, terms: PostTerms): Promise<Outcome | LeaseExpired>
  close(): Promise<void>
}

/** Sends deliveries (specification, "Delivery request"). Never follows redirects, never uses a proxy of the environment. */
export function createPostClient(options: PostOptions): PostClient {
  const { timeoutMs, guard, sign, ownHeadersOf } = options
  const targetOf = createTargets(guard)
  const connections = openConnections(options)
  // The bare class without defaults: axios merges each of them into every request. It needs neither method nor headers,
  // because the PreparedPost has them. It checks no status and transforms nothing, because the body is already bytes and the
  // answer's excerpt is already text.
  const client = new Axios({})
  const adapter = createUndiciAdapter(connections)

  async function send(delivery: Delivery, attempt: number, terms: PostTerms): Promise<Outcome | LeaseExpired> {
    const target = targetOf(delivery.url)
    if (target.kind !== 'target') return target
    try {
      const own = ownHeadersOf?.(delivery) ?? {}
      const headers = { ...own, ...attemptHeaders(delivery, attempt, sign) }
      const data = new PreparedPost(target, headers, delivery.body, { ...terms, hidden: Object.values(own) })
      const { data: sent } = await client.request<Sent>({ data, adapter })
      return outcomeOf(sent)
    } catch (error) {
      return classifyError(error)
    }
  }

  return {
    async post(delivery, attempt) {
      const deadline = startDeadline(timeoutMs)
      try {
        const outcome = await send(delivery, attempt, { trustedUntilMs: Infinity, isReplay: false, deadline })
        if (outcome.kind === 'lease-expired') throw new Error('a POST without a lease cannot outlast one')
        return outcome
      } finally {
        deadline.stop()
      }
    },
    postLeased: send,
    close: () => connections.close(),
  }
}

function outcomeOf(sent: Sent): Outcome | LeaseExpired {
  switch (sent.kind) {
    case 'error':
      return classifyError(sent.error)
    case 'unwritten':
      return { kind: 'lease-expired', ...(sent.broken !== undefined && { broken: classifyError(sent.broken) }) }
    case 'answer': {
      const { status, excerpt, pauseMs } = sent
      const outcome = classifyStatus(status)
      if (outcome.kind !== 'answered') return outcome
      return {
        ...outcome,
        ...(excerpt !== undefined && { answer: excerpt }),
        ...(pauseMs !== undefined && { pauseMs }),
      }
    }
  }
}
