import type { IncomingHttpHeaders } from 'node:http'
import { isLeaseValid } from '@switchhook/contracts'
import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import type { Dispatcher } from 'undici'
import { answerExcerpt, EXCERPT_SOURCE_BYTES } from './answer-excerpt.ts'
import type { Connections } from './connections.ts'
import type { Target } from './targets.ts'

/** How much of an answer's body is read, and for how long, for its excerpt and to keep its connection; then that is dropped. */
const MAX_ANSWER_BYTES = 4_096
const MAX_ANSWER_MS = 1_000

/** When the request may be written, and where. */
export interface WriteTerms {
  /** From then on it is not written, and the adapter rejects with LeaseRanOut; monotonic, in ms. */
  readonly trustedUntilMs: number
  /** Goes to a fresh connection at once: the same request broke on a kept one before. */
  readonly isReplay: boolean
}

/** A whole request, which travels through axios as its `data`. */
export type PreparedPost = Dispatcher.DispatchOptions

export const preparedPost = (
  { origin, path }: Pick<Target, 'origin' | 'path'>,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): PreparedPost => ({ origin, path, method: 'POST', headers, body })

const ANY_TIME: WriteTerms = { trustedUntilMs: Infinity, isReplay: false }

/**
 * Sends what `preparedPost` made with undici, in a third of the time that Node's own client takes (docs/performance.md).
 * Resolves with the status line of the answer, which decides. The body of a 2xx is read and dropped; of any other answer
 * `data` is an excerpt of what arrives in time. `timeout` is the deadline until then.
 */
export function createUndiciAdapter(connections: Connections, terms: WriteTerms = ANY_TIME): AxiosAdapter {
  return (config) =>
    new Promise((resolve, reject) => {
      const exchange = new Exchange(connections, config.data as PreparedPost, terms, {
        answered: (status, excerpt) => resolve(answerOf(status, excerpt, config)),
        failed: reject,
      })
      exchange.begin(config.timeout ?? 0)
    })
}

interface Listener {
  readonly answered: (status: number, excerpt: string | undefined) => void
  readonly failed: (error: Error) => void
}

/**
 * One request and its answer. If the server closes an idle connection just as the request is written into it, the request
 * is sent once more, on a connection of its own, within the same deadline.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #connections: Connections
  readonly #request: Dispatcher.DispatchOptions
  readonly #trustedUntilMs: number
  readonly #listener: Listener
  #timer: NodeJS.Timeout | undefined
  #controller: Dispatcher.DispatchController | undefined
  #state: 'waiting' | 'answered' | 'failed' = 'waiting'
  #isSecond: boolean
  /** How the connection broke that carried this request first. */
  #broken: Error | undefined
  #bytes = 0
  #deadlineAt = 0
  /** Present while the answer is kept back for its excerpt. */
  #refusal: { readonly status: number; readonly chunks: Buffer[] } | undefined

  constructor(connections: Connections, request: Dispatcher.DispatchOptions, terms: WriteTerms, listener: Listener) {
    this.#connections = connections
    this.#request = request
    this.#trustedUntilMs = terms.trustedUntilMs
    this.#isSecond = terms.isReplay
    this.#listener = listener
  }

  begin(deadlineMs: number): void {
    this.#deadlineAt = performance.now() + deadlineMs
    this.#timer = setTimeout(() => {
      const late = new DeadlinePassed()
      this.#fail(late)
      this.#controller?.abort(late)
    }, deadlineMs)
    const { kept, fresh } = this.#connections
    ;(this.#isSecond ? fresh : kept).dispatch(this.#request, this)
  }

  /**
   * Undici calls this when the connection is open, and writes head and body as soon as it returns, in the same turn of the
   * event loop. Throwing drops the request and leaves the connection open for the next; `abort` would destroy it.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The deadline has passed while the connection was being made.
    if (this.#state === 'failed') controller.abort(new DeadlinePassed())
    else if (!isLeaseValid(this.#trustedUntilMs, performance.now())) throw new LeaseRanOut(this.#broken)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // A provisional answer (RFC 9110, section 15.2) decides nothing.
    if (status < 200 || this.#state !== 'waiting') return
    this.#state = 'answered'
    clearTimeout(this.#timer)
    const isRefusal = status >= 300 && isPlain(headers)
    const restMs = isRefusal
      ? Math.max(0, Math.min(MAX_ANSWER_MS, this.#deadlineAt - performance.now()))
      : MAX_ANSWER_MS
    this.#timer = setTimeout(() => controller.abort(new AnswerCut()), restMs)
    if (isRefusal) this.#refusal = { status, chunks: [] }
    else this.#listener.answered(status, undefined)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#refusal !== undefined) {
      // A copy: the chunk may be a part of something far larger.
      this.#refusal.chunks.push(Buffer.from(chunk.subarray(0, EXCERPT_SOURCE_BYTES - this.#bytes)))
      if (this.#bytes + chunk.length > EXCERPT_SOURCE_BYTES) this.#refuse(false)
    }
    this.#bytes += chunk.length
    if (this.#bytes > MAX_ANSWER_BYTES) controller.abort(new AnswerCut())
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer)
    this.#refuse(true)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#state === 'waiting' && !this.#isSecond && isClosing(error) && this.#connections.brokeOnReuse(error)) {
      this.#isSecond = true
      this.#broken = error
      this.#connections.fresh.dispatch(this.#request, this)
    } else if (this.#state === 'waiting') this.#fail(isProtocolFault(error) ? new Malformed(error) : error)
    else {
      // What breaks after the status line changes nothing.
      clearTimeout(this.#timer)
      this.#refuse(false)
    }
  }

  #refuse(isWhole: boolean): void {
    if (this.#refusal === undefined) return
    const { status, chunks } = this.#refusal
    this.#refusal = undefined
    this.#listener.answered(status, answerExcerpt(Buffer.concat(chunks), isWhole))
  }

  #fail(error: Error): void {
    if (this.#state !== 'waiting') return
    this.#state = 'failed'
    clearTimeout(this.#timer)
    this.#listener.failed(error)
  }
}

/** The request was not written, because the lease ran out before the connection was ready. */
export class LeaseRanOut extends Error {
  override readonly name = 'LeaseRanOut'
  /** How the connection broke that carried the same request first; undefined: it was never written. */
  readonly broken: Error | undefined

  constructor(broken: Error | undefined) {
    super('the lease ran out before the request was written')
    this.broken = broken
  }
}

/** The deadline counts as the network's own time-out. */
class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed'
  readonly code = 'ETIMEDOUT'
}

/** Longer, or slower, than anybody needs to read. */
class AnswerCut extends Error {
  override readonly name = 'AnswerCut'
}

class Malformed extends Error {
  override readonly name = 'Malformed'
  readonly code = 'HPE_MALFORMED'

  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const isClosing = (error: Error): boolean => 'code' in error && CLOSED.has(String(error.code))

/** Undici gives a parser's fault no code, and an unexpected 101 the code of a lost connection. */
const isProtocolFault = (error: Error): boolean =>
  error.name === 'HTTPParserError' || /^bad (response|upgrade)$/.test(error.message)

function answerOf(
  status: number,
  data: string | undefined,
  config: InternalAxiosRequestConfig,
): AxiosResponse<string | undefined> {
  return { status, statusText: '', headers: {}, config, data }
}

/** Nobody asked for anything else, and nothing is unpacked here. */
const isPlain = ({ 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): boolean =>
  encoding.toLowerCase() === 'identity'
