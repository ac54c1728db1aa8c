import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerWithin, backoffMs, isCertificateError, type Logger } from '@switchhook/runtime'
import type { ChannelModel } from 'amqplib'
import { LRUCache } from 'lru-cache'
import { ConnectionRefused, type RawConnection, toConnectOptions, writeDirectly } from './connect.ts'
import {
  type BrokerAddress,
  closeInTime,
  connectTo,
  FramesTooSmall,
  isRefusal,
  type Session,
  toError,
} from './session.ts'

/** When a connection is lost or its set-up fails, the next node of the address is tried. */
export interface LinkOptions extends BrokerAddress {
  /** The connection's name in RabbitMQ's management pages. */
  readonly name: string
  readonly log: Logger
  /** Creates the channels and consumers of a connection. Runs on every new connection. */
  readonly setUp: (session: Session) => Promise<void>
  /** Called when the link goes up or down. */
  readonly changed: () => void
}

/** A connection that reconnects until it is closed. */
export type Link = ReturnType<typeof openLink>

const SET_UP_TIMEOUT_MS = 30_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5_000
/** The part of a wait by which it varies, so that processes that lost a node together do not come back together. */
const JITTER = 0.2
const REPEAT_WARNING_MS = 30_000
const REASONS_REMEMBERED = 100

/** Does not wait for the broker; `changed` reports the first connection. */
export function openLink({ url, ca, name, log, setUp, changed }: LinkOptions) {
  const urls = [url].flat()
  const closing = new AbortController()
  let current: Session | undefined
  /** The reasons of the latest warnings. A new reason does not wait for an old one. */
  const warned = new LRUCache<string, true>({ max: REASONS_REMEMBERED, ttl: REPEAT_WARNING_MS })

  /** Resolves once the connection is lost. @throws Error if it cannot be set up */
  async function connectOnce(url: string): Promise<void> {
    const model = await connectTo(url, name, ca)
    if (closing.signal.aborted) return await close(model)
    writeDirectly(rawOf(model))
    const lost = Promise.withResolvers<void>()
    let isClosed = false
    let failure: Error | undefined
    /** RabbitMQ's own, if it closed the connection. */
    let reason: Error | undefined
    model.on('error', (error: Error) => {
      reason = error
    })
    model.on('close', (error?: Error) => {
      isClosed = true
      failure ??= error ?? new Error('connection closed')
      lost.resolve()
    })
    const session: Session = {
      model,
      fail: (error) => {
        failure ??= error
        // Deferred: a connection that closes closes its channels first, and each of them reports its error here.
        setImmediate(lost.resolve)
      },
    }
    try {
      const tooLate = `the connection was not set up within ${SET_UP_TIMEOUT_MS} ms`
      await answerWithin(SET_UP_TIMEOUT_MS, setUp(session), tooLate)
      if (failure !== undefined) throw failure
    } catch (error) {
      await close(model)
      throw reason ?? error
    }
    if (closing.signal.aborted) return await close(model)
    current = session
    const { hostname: host, port } = toConnectOptions(url)
    log.info('connected to RabbitMQ', { connection: name, host, port })
    changed()
    await lost.promise
    current = undefined
    changed()
    if (!closing.signal.aborted) {
      const message = isClosed ? 'lost the connection to RabbitMQ' : 'closing a failed RabbitMQ connection'
      log.warn(message, { connection: name, error: reason ?? failure })
    }
    await close(model)
  }

  function report(error: Error): void {
    const problem = problemOf(error)
    if (problem !== undefined) log.error(problem, { connection: name, error })
    else if (!warned.has(error.message)) {
      warned.set(error.message, true)
      log.warn('waiting for RabbitMQ', { connection: name, error })
    }
  }

  async function run(): Promise<void> {
    // The first is a random one, so that the connections of many replicas are spread over the cluster.
    let at = Math.floor(Math.random() * urls.length)
    for (let failures = 0; !closing.signal.aborted; failures++) {
      try {
        await connectOnce(urls[at] ?? '')
        failures = 0
      } catch (error) {
        if (!closing.signal.aborted) report(toError(error))
      }
      at = (at + 1) % urls.length
      const waitMs = backoffMs(failures, FIRST_RETRY_MS, MAX_RETRY_MS) * (1 - JITTER * Math.random())
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  void run()
  return {
    /** The current connection once it is set up; undefined while there is none. */
    session: (): Session | undefined => current,
    close: async (): Promise<void> => {
      closing.abort()
      const session = current
      current = undefined
      if (session !== undefined) await close(session.model)
      changed()
    },
  }
}

/**
 * Destroys the socket if the broker does not answer the close. The broker then redelivers the unacknowledged messages at the
 * end of the stream. Otherwise it would serve the old consumers until a heartbeat is missed.
 */
async function close(model: ChannelModel): Promise<void> {
  await closeInTime(model).catch((error: unknown) => rawOf(model).stream.destroy(toError(error)))
}

const rawOf = ({ connection }: ChannelModel) => connection as unknown as RawConnection & { readonly stream: Duplex }

const ACCESS_REFUSED = 403
const PRECONDITION_FAILED = 406
const NOT_ALLOWED = 530

/** What to check, if retrying does not help; RabbitMQ's reason is logged with it. */
function problemOf(error: Error): string | undefined {
  if (error instanceof ConnectionRefused) {
    return error.code === ACCESS_REFUSED
      ? 'RabbitMQ refuses the login; check user and password in AMQP_URL; retrying'
      : 'RabbitMQ accepts the login and refuses the connection, for the reason in `error`; retrying'
  }
  // Access refused, a queue or exchange that exists with other arguments, a limit of channels.
  if (isRefusal(error, ACCESS_REFUSED, PRECONDITION_FAILED, NOT_ALLOWED)) return 'RabbitMQ refuses the set-up; retrying'
  if (error instanceof FramesTooSmall)
    return 'the frames of RabbitMQ are too small for the headers of large messages; raise frame_max in its configuration; retrying'
  if (isCertificateError(error))
    return "RabbitMQ's certificate is not accepted; check AMQP_CA_FILE, and that the certificate is for the host in AMQP_URL"
  return undefined
}
