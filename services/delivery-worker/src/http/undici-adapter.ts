import { createRequire } from 'node:module'
import { isLeaseValid, type Outcome } from '@switchhook/contracts'
import { codedError, type Deadline, startDeadline } from '@switchhook/runtime'
import type * as axios from 'axios'
import type { Dispatcher } from 'undici'
import { answerExcerpt, EXCERPT_SOURCE_BYTES } from '../policy/answer-excerpt.ts'
import { classifyError, classifyStatus, explainedError, type Header, retryAfterMsOf } from '../policy/classify.ts'
import { classifyBroken, SENT_BY_PARSERS, StrayAnswer } from './classify-broken.ts'
import type { Connections, Use } from './connections.ts'
import type { PostTerms, Unfinished } from './post-under-lease.ts'

/**
 * How much of an answer's body is read, and for how long. Reading all of it keeps the connection usable; beyond the limits
 * the connection is dropped.
 */
const MAX_ANSWER_BYTES = 4_096
const MAX_ANSWER_MS = 1_000

/**
 * `waiting`: for the status line. `body`: the outcome waits for the excerpt, if there is one; otherwise it is known, and the rest
 * of the body is only read.
 */
type Exchange =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'waiting'; readonly controller: Dispatcher.DispatchController }
  | {
      readonly kind: 'body'
      /** The parts of its source, and what the attempt comes to without it. */
      readonly excerpt: { readonly chunks: Buffer[]; readonly outcome: Outcome & { kind: 'answered' } } | undefined
      readonly bytes: number
      readonly bodyDeadline: Deadline
    }
  | { readonly kind: 'ended' }

/** An `Error` is not classified yet: it may be our own failure. */
type Sent = Outcome | Unfinished | Error

/** The CommonJS build, because it is one file: the other one takes a tenth of a worker's start to load. */
const { Axios, AxiosHeaders } = createRequire(import.meta.url)('axios') as typeof axios

export { Axios }

/** One for all answers: axios would create one for each. */
const NO_HEADERS = new AxiosHeaders()

/**
 * An axios adapter over undici, which takes a third of the time of Node's own client (docs/performance.md). It sends one
 * complete request, which axios would copy, headers and all. Its `data` is the result: at the status line of a 2xx, whose body
 * is dropped, and after the excerpt of any other answer. So is a failure of the endpoint, because axios extends the stack trace
 * of each rejection.
 */
export const undiciAdapter =
  (connections: Connections, request: Dispatcher.DispatchOptions, terms: PostTerms): axios.AxiosAdapter =>
  async (config) => {
    const sent = await new Promise<Sent>((ended) => send(connections, request, terms, ended))
    const data = 'kind' in sent ? sent : classifyError(sent)
    // axios does not use the status; `data` has it.
    return { status: 0, statusText: '', headers: NO_HEADERS, config, data }
  }

/**
 * Handles one request and its answer.
 * @param terms `deadline`: of the status line, and of the excerpt of an answer other than 2xx
 */
function send(
  connections: Connections,
  request: Dispatcher.DispatchOptions,
  { deadline, trustedUntilMs, replayOf, hidden }: PostTerms,
  ended: (sent: Sent) => void,
): void {
  const origin = String(request.origin)
  let exchange: Exchange = { kind: 'connecting' }
  /** Undefined: the request has not been written. */
  let use: Use | undefined

  function end(sent: Sent): void {
    exchange = { kind: 'ended' }
    ended(sent)
  }

  function endBody(isComplete: boolean): void {
    if (exchange.kind !== 'body') return
    const { excerpt, bytes, bodyDeadline } = exchange
    exchange = { kind: 'ended' }
    bodyDeadline.stop()
    if (excerpt === undefined) return
    const isWhole = isComplete && bytes <= EXCERPT_SOURCE_BYTES
    const answer = answerExcerpt(Buffer.concat(excerpt.chunks), isWhole, hidden)
    ended(answer === undefined ? excerpt.outcome : { ...excerpt.outcome, answer })
  }

  const handler: Dispatcher.DispatchHandler = {
    /**
     * Undici calls this when the connection is open, and writes head and body as soon as it returns, in the same iteration of
     * the event loop. Throwing drops the request and leaves the connection open for the next; `abort` would destroy it.
     */
    onRequestStart(controller) {
      // The deadline passed while the connection was being made.
      if (exchange.kind !== 'connecting') controller.abort(deadlinePassed())
      else if (!isLeaseValid(trustedUntilMs, performance.now())) throw LEASE_ENDED
      else {
        exchange = { kind: 'waiting', controller }
        connections.whenWritten((connection) => (use = connection))
      }
    },
    onResponseStart(controller, status, headers) {
      // An interim answer (RFC 9110, section 15.2) is not the answer.
      if (status < 200 || exchange.kind !== 'waiting') return
      const mayBeStray = SENT_BY_PARSERS.has(status) && replayOf === undefined && use?.isReused === true
      if (mayBeStray && textOf(headers.connection).includes('close'))
        return controller.abort(new StrayAnswer(`${status} to a request that it did not understand`))
      // Before the exchange changes: an error then fails the attempt. Afterwards it would leave the attempt without an end.
      const redirect = REDIRECTS.has(status)
        ? redirectText(headers.location, `${origin}${request.path}`, hidden)
        : undefined
      const outcome = outcomeOf(status, replayOf?.detail ?? redirect, retryAfterMsOf(status, headers, Date.now()))
      // The request asked for an uncompressed answer; a compressed one gets no excerpt.
      const isPlain = textOf(headers['content-encoding'] ?? 'identity') === 'identity'
      const cut = (): void => controller.abort(tooLong())
      const excerpt = outcome.kind === 'answered' && isPlain ? { outcome, chunks: [] } : undefined
      exchange = { kind: 'body', excerpt, bytes: 0, bodyDeadline: startDeadline(MAX_ANSWER_MS, cut) }
      if (excerpt === undefined) ended(outcome)
      else deadline.whenPassed(cut)
    },
    onResponseData(controller, chunk) {
      if (exchange.kind !== 'body') return
      const left = Math.max(0, EXCERPT_SOURCE_BYTES - exchange.bytes)
      // A copy, because the chunk may be a slice of a much larger buffer and would keep all of it in memory.
      exchange.excerpt?.chunks.push(Buffer.from(chunk.subarray(0, left)))
      exchange = { ...exchange, bytes: exchange.bytes + chunk.length }
      if (exchange.bytes > MAX_ANSWER_BYTES) controller.abort(tooLong())
    },
    onResponseEnd: () => endBody(true),
    onResponseError(_controller, error) {
      // An error after the status line does not change the outcome.
      if (exchange.kind !== 'connecting' && exchange.kind !== 'waiting') return endBody(false)
      if (error === LEASE_ENDED) return end(LEASE_EXPIRED)
      const failed = classifyBroken(error, use ?? connections.unwrittenWith(error))
      if (failed.repeat === 'stray') connections.strays.set(origin, true)
      if (failed.repeat === undefined || replayOf !== undefined) return end(failed.sent)
      const detail = `repeated on a new connection; a kept one had no answer to this request: ${error.message}`
      end({ kind: 'broken', outcome: classifyError(failed.sent), ...(failed.repeat === 'stray' && { detail }) })
    },
  }

  deadline.whenPassed(() => {
    if (exchange.kind === 'connecting') end(deadlinePassed(connections.whyNotConnected(origin)))
    else if (exchange.kind === 'waiting') {
      const { controller } = exchange
      const late = deadlinePassed()
      end(late)
      controller.abort(late)
    }
  })
  const agent = replayOf !== undefined || connections.strays.has(origin) ? connections.fresh : connections.kept
  agent.dispatch(request, handler)
}

function outcomeOf(status: number, detail: string | undefined, retryAfterMs: number | undefined): Outcome {
  const classified = classifyStatus(status)
  if (detail === undefined && retryAfterMs === undefined) return classified
  return {
    ...classified,
    ...(detail !== undefined && { detail }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** One for all requests: a stack trace for each would cost more than the request. */
const LEASE_ENDED = new Error('the lease ended before the request was written')
const LEASE_EXPIRED: Unfinished = { kind: 'lease-expired' }

const tooLong = (): Error => new Error('the body is longer or slower than the limits of an excerpt')

/** Classified like a timeout of the network itself. */
const deadlinePassed = (why?: string): Error =>
  why === undefined
    ? codedError('ETIMEDOUT', 'the deadline of the attempt has passed')
    : explainedError('ETIMEDOUT', why)

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** @param url of the request, to which the location may be relative */
function redirectText(location: Header, url: string, hidden: readonly string[] = []): string | undefined {
  const [first] = [location ?? []].flat()
  const target = first === undefined ? null : URL.parse(first.trim(), url)
  const shown = target === null ? undefined : answerExcerpt(Buffer.from(target.href), true, hidden)
  return shown && `redirects are not followed: change the url of the subscription if the endpoint has moved to ${shown}`
}

const textOf = (header: Header): string =>
  String(header ?? '')
    .trim()
    .toLowerCase()
