import { answerWithin, type ReceiverAnswer, Refusal, STOPPING } from './answer.ts'
import { createApply } from './apply.ts'
import {
  type FastifyInstance,
  fastifyDoor,
  fetchDoor,
  type HttpRequest,
  type NodeRequest,
  type NodeResponse,
  nodeDoor,
} from './doors.ts'
import { type AnyEvent, parseEvent } from './events.ts'
import type { ReceiverOptions } from './options.ts'
import { type ReadClient, type Reconciled, reconcile } from './reconcile.ts'
import type { Store } from './store.ts'
import { memoryStore } from './stores/memory.ts'
import { createSecrets, verify } from './verify.ts'

export interface Receiver {
  /** For Hono, Next.js, Deno, Bun and workers. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For `node:http`, Express and Next.js pages, in front of any parser of bodies. */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>
  /** A plugin: `app.register(receiver.fastify, { prefix: '/hooks' })`. */
  readonly fastify: (instance: FastifyInstance, options: unknown, done: () => void) => void
  /**
   * Reads calls and agents, and gives the handlers what is newer. Repairs lost events, such as the last one of a call.
   * @throws the error of the client, or if a handler or the store fails; TypeError with `order: 'none'`, which keeps no order
   */
  reconcile(client: ReadClient): Promise<Reconciled>
  /** Answers 503 from now on, aborts `ctx.signal`, and resolves when no handler runs. */
  stop(): Promise<void>
}

const DONE: ReceiverAnswer = { status: 204 }
const LATE: ReceiverAnswer = { status: 503, reason: 'The handler still runs. The retry will find the delivery done.' }
const ANSWER_WITHIN_MS = 8_000

/**
 * Creates the receiver of one endpoint: it verifies deliveries, handles each once, and skips those that are out of date.
 * @throws TypeError if a secret or the name is not valid
 */
export function createReceiver<Tx>(options: ReceiverOptions<Tx>): Receiver {
  const { answerWithinMs = ANSWER_WITHIN_MS, onTest } = options
  const onError = safely(options.onError ?? report)
  const secrets = createSecrets(options.secrets)
  const stopping = new AbortController()
  const store = namedStore(options.name, options.store ?? (memoryStore() as Store<unknown> as Store<Tx>))
  const applying = createApply({ ...options, store, onError }, stopping.signal)

  async function receive({ method, header, body }: HttpRequest): Promise<ReceiverAnswer> {
    if (method !== 'POST') return { status: 405, reason: 'Deliveries are sent with POST.' }
    if (stopping.signal.aborted) return STOPPING
    try {
      const text = await body()
      await verify(secrets, header, text)
      const event = parseEvent(text)
      if (event === undefined) return { status: 400, reason: 'The body is not a delivery.' }
      if (header('x-svc-test') === 'true') {
        await onTest?.(event)
        return DONE
      }
      const id = header('webhook-id') ?? ''
      const about = { deliveryId: id, eventId: header('x-svc-event-id'), attempt: Number(header('x-svc-attempt') ?? 1) }
      return await applying.apply({ id, event, about, isSparse: header('x-svc-sparse') === 'true' })
    } catch (error) {
      if (!(error instanceof Refusal && error.status < 500)) onError(error)
      return error instanceof Refusal
        ? { status: error.status, reason: error.message }
        : { status: 500, reason: 'The receiver failed.' }
    }
  }
  const inTime = (request: HttpRequest): Promise<ReceiverAnswer> => answerWithin(answerWithinMs, receive(request), LATE)

  return {
    fetch: fetchDoor(inTime),
    node: nodeDoor(inTime),
    fastify: fastifyDoor(inTime),
    reconcile: async (client) => {
      if (options.order === 'none') throw new TypeError("reconcile needs the order 'latest'.")
      return reconcile(client, applying.apply)
    },
    stop: () => {
      stopping.abort(new Error('The receiver is stopping.'))
      return applying.idle()
    },
  }
}

/**
 * The part of a store that is the receiver's own, so that several receivers can share the store. Without a name, the keys
 * stay as they are.
 * @throws TypeError if the name is not valid
 */
function namedStore<Tx>(name: string | undefined, store: Store<Tx>): Store<Tx> {
  if (name === undefined) return store
  if (typeof name !== 'string' || name === '') throw new TypeError('name must be a non-empty string')
  // Quoted, so that no key of one name is a key of another: no key without a name begins with a quotation mark.
  const own = (key: string): string => `${JSON.stringify(name)} ${key}`
  return {
    once: (id, work) => store.once(own(id), work),
    advance: (tx, subject, position) => store.advance(tx, own(subject), position),
  }
}

/** A failing `onError` must not end the process, also if it is asynchronous. */
const safely =
  (onError: NonNullable<ReceiverOptions<unknown>['onError']>) =>
  (...about: Parameters<typeof onError>): void => {
    // Called before this returns, whatever it awaits then.
    void (async () => onError(...about))().catch(report)
  }

/** Without `onError`, a failing handler would leave no trace. */
// oxlint-disable-next-line no-console -- the application decides otherwise with `onError`
const report = (error: unknown, _event?: AnyEvent): void => console.error(error)
