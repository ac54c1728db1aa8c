import type { Duplex } from 'node:stream'
import { answerWithin, isCertificateError, type Logger } from '@switchhook/runtime'
import type { ChannelModel } from 'amqplib'
import { LRUCache } from 'lru-cache'
import { ConnectionRefused, connect, createBrokerNodes } from './connect.ts'
import { type RawConnection, writeDirectly } from './gather-writes.ts'
import {
  type BrokerAddress,
  CONNECT_TIMEOUT_MS,
  closeInTime,
  FramesTooSmall,
  frameProblem,
  isRefusal,
  type Session,
  toError,
  verifiedBy,
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
export type Link = Awaited<ReturnType<typeof openLink>>

const SET_UP_TIMEOUT_MS = 30_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5_000
const REPEAT_WARNING_MS = 30_000
const REASONS_REMEMBERED = 100

const REFUSED_CERTIFICATE =
  "RabbitMQ's certificate is not accepted; check AMQP_CA_FILE, and that the certificate is for the host in AMQP_URL"

const SMALL_FRAMES =
  'the frames of RabbitMQ are too small for the headers of large messages; raise frame_max in its configuration; retrying'

const ACCESS_REFUSED = 403
const NOT_ALLOWED = 530

/** What to check; RabbitMQ's reason is logged with it. */
const refusal = ({ code }: ConnectionRefused): string =>
  code === ACCESS_REFUSED
    ? 'RabbitMQ refuses the login; check user and password in AMQP_URL; retrying'
    : 'RabbitMQ accepts the login and refuses the connection, for the reason in `error`; retrying'

/** Resolves without waiting for the broker; `changed` reports the first connection. */
export async function openLink({ url, ca, name, log, setUp, changed }: LinkOptions) {
  let current: Session | undefined
  let candidate: Session | undefined
  let closing = false
  /** The reasons of the latest warnings. A new reason does not wait for an old one. */
  const warned = new LRUCache<string, true>({ max: REASONS_REMEMBERED, ttl: REPEAT_WARNING_MS })

  async function giveUp(session: Session, error: Error): Promise<void> {
    if (current !== session || closing) return
    log.warn('closing a failed RabbitMQ connection', { connection: name, error })
    await closeInTime(session.model).catch(() => {
      dropSocket(session.model, error)
      // amqplib misses a connection that is lost while it closes; the event makes it reconnect.
      if (current === session) session.model.emit('close', error)
    })
  }

  async function setUpModel(model: ChannelModel): Promise<void> {
    writeDirectly(rawOf(model))
    let lost: Error | undefined
    /** RabbitMQ's own, if it closed the connection. */
    let reason: Error | undefined
    const session: Session = {
      model,
      fail: (error) => {
        if (lost !== undefined) return
        lost = error
        // Deferred: a connection that closes closes its channels first, and each of them reports its error here.
        setImmediate(() => void giveUp(session, error))
      },
    }
    // An error without a listener ends the process, so listen before the first await. 'close' follows with the reason.
    model.on('error', (error: Error) => {
      reason = error
    })
    model.on('close', (error) => {
      lost ??= error ?? new Error('connection closed')
      if (current !== session) return
      current = undefined
      changed()
    })
    candidate = session
    try {
      const tooLate = `the connection was not set up within ${SET_UP_TIMEOUT_MS} ms`
      const problem = frameProblem(model)
      if (problem !== undefined) throw problem
      await answerWithin(SET_UP_TIMEOUT_MS, setUp(session), tooLate)
      // amqplib listens for 'close' only after the set-up; an earlier close would never be noticed.
      if (lost !== undefined) throw lost
    } catch (error) {
      // amqplib closes a connection whose set-up failed and waits for the answer without a limit. After this close its
      // own one returns immediately.
      await closeInTime(model).catch(() => dropSocket(model, toError(error)))
      throw reason ?? error
    }
  }

  const nodes = createBrokerNodes([url].flat())
  // amqplib reads the target again for every connection.
  const recovering = await connect(nodes.target, {
    noDelay: true,
    keepAlive: true,
    timeout: CONNECT_TIMEOUT_MS,
    clientProperties: { connection_name: name },
    ...verifiedBy(ca),
    recovery: { initialDelay: FIRST_RETRY_MS, maxDelay: MAX_RETRY_MS, waitForConnect: false, setup: setUpModel },
  })
  recovering.on('error', () => {})
  recovering.on('reconnect-scheduled', () => nodes.next())
  recovering.on('connect', () => {
    current = candidate
    log.info('connected to RabbitMQ', { connection: name, host: nodes.target.hostname, port: nodes.target.port })
    changed()
  })
  recovering.on('disconnect', (error) => {
    if (!closing) log.warn('lost the connection to RabbitMQ', { connection: name, error })
  })
  recovering.on('connect-failed', (error) => {
    if (closing) return
    // Access refused (403), a queue or exchange exists with other arguments (406), a limit of channels: retrying does not help.
    if (error instanceof ConnectionRefused) log.error(refusal(error), { connection: name, error })
    else if (isRefusal(error, ACCESS_REFUSED, 406, NOT_ALLOWED))
      log.error('RabbitMQ refuses the set-up; retrying', { connection: name, error })
    else if (error instanceof FramesTooSmall) log.error(SMALL_FRAMES, { connection: name, error })
    else if (isCertificateError(error)) log.error(REFUSED_CERTIFICATE, { connection: name, error })
    else if (!warned.has(error.message)) {
      warned.set(error.message, true)
      log.warn('waiting for RabbitMQ', { connection: name, error })
    }
  })

  return {
    /** The current connection once it is set up; undefined while there is none. */
    session: (): Session | undefined => current,
    close: async (): Promise<void> => {
      closing = true
      await closeInTime(recovering).catch((error: unknown) => {
        log.warn('RabbitMQ connection dropped without a clean close', { connection: name, error })
      })
      current = undefined
      changed()
    },
  }
}

/**
 * Destroys the socket of a connection whose broker does not answer the close. The broker then redelivers the unacknowledged
 * messages at the end of the stream. Otherwise it would serve the old consumers until a heartbeat is missed.
 */
function dropSocket(model: ChannelModel, error: Error): void {
  rawOf(model).stream.destroy(error)
}

const rawOf = ({ connection }: ChannelModel) => connection as unknown as RawConnection & { readonly stream: Duplex }
