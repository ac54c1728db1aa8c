import type { Duplex } from 'node:stream'
import { type ChannelModel, connect } from 'amqplib'
import type { Log } from '../log.ts'
import { createBrokerNodes } from './broker-nodes.ts'
import { toError } from './to-error.ts'
import { within } from './within.ts'

/** One life of a connection. */
export interface Session {
  readonly model: ChannelModel
  /** Gives this connection up, so that everything on it is made anew. */
  readonly fail: (error: Error) => void
}

export interface LinkOptions {
  /** Several: the nodes of one RabbitMQ. When one is lost, or cannot be set up, the next one is tried. */
  readonly url: string | readonly string[]
  /** Shown by the broker's management as the connection's name. */
  readonly name: string
  readonly log: Log
  /** Makes everything that lives on the connection; runs again on each new one. */
  readonly setUp: (session: Session) => Promise<void>
  /** Called whenever the link came up or went down. */
  readonly changed: () => void
}

/** A connection that comes back by itself, for ever. */
export interface Link {
  /** The present connection, set up; undefined while there is none. */
  session(): Session | undefined
  close(): Promise<void>
}

const CONNECT_TIMEOUT_MS = 10_000
const SET_UP_TIMEOUT_MS = 30_000
const CLOSE_TIMEOUT_MS = 3_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5_000
const REPEAT_WARNING_MS = 30_000

/** Answers at once, whether or not the broker is there. */
export async function openLink({ url, name, log, setUp, changed }: LinkOptions): Promise<Link> {
  let current: Session | undefined
  let candidate: Session | undefined
  let closing = false
  const mayWarn = atMostEvery(REPEAT_WARNING_MS)

  async function giveUp(session: Session, error: Error): Promise<void> {
    if (current !== session || closing) return
    log.warn('giving up a RabbitMQ connection', { connection: name, error })
    await within(CLOSE_TIMEOUT_MS, session.model.close(), 'no answer').catch(() => {
      dropSocket(session.model, error)
      // amqplib does not notice a connection that is lost while it closes: this makes it connect again.
      if (current === session) session.model.emit('close', error)
    })
  }

  async function setUpModel(model: ChannelModel): Promise<void> {
    let lost: Error | undefined
    const session: Session = {
      model,
      fail: (error) => {
        if (lost !== undefined) return
        lost = error
        // Later: a connection that is closing by itself closes its channels first, and they report here.
        setImmediate(() => void giveUp(session, error))
      },
    }
    // Without a listener, from before the first await, an error would end the process; 'close' follows and tells.
    model.on('error', () => {})
    model.on('close', (error) => {
      lost ??= error ?? new Error('connection closed')
      if (current !== session) return
      current = undefined
      changed()
    })
    candidate = session
    try {
      await within(SET_UP_TIMEOUT_MS, setUp(session), 'the set-up of the connection takes too long')
      // amqplib listens for 'close' only after the set-up: one that came earlier would go unnoticed, for ever.
      if (lost !== undefined) throw lost
    } catch (error) {
      // amqplib closes what could not be set up and waits for the answer without a limit; closing twice ends at once.
      await within(CLOSE_TIMEOUT_MS, model.close(), 'no answer').catch(() => dropSocket(model, toError(error)))
      throw error
    }
  }

  const nodes = createBrokerNodes([url].flat())
  // The library reads the target anew each time that it connects.
  const recovering = await connect(nodes.target, {
    noDelay: true,
    keepAlive: true,
    timeout: CONNECT_TIMEOUT_MS,
    clientProperties: { connection_name: name },
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
    if (needsAPerson(error)) log.error('RabbitMQ refuses the set-up; trying again', { connection: name, error })
    else if (mayWarn()) log.warn('waiting for RabbitMQ', { connection: name, error })
  })

  return {
    session: () => current,
    close: async () => {
      closing = true
      await within(CLOSE_TIMEOUT_MS, recovering.close(), 'RabbitMQ did not answer the closing').catch(
        (error: unknown) => {
          log.warn('closed a RabbitMQ connection the hard way', { connection: name, error })
        },
      )
      current = undefined
      changed()
    },
  }
}

/**
 * Ends a connection whose broker does not answer the close. Its channels close, and the broker redelivers what they held
 * as soon as it reads the end of the stream. Otherwise it would serve the consumers of the old connection until a
 * heartbeat is missed.
 */
function dropSocket({ connection }: ChannelModel, error: Error): void {
  const { stream } = connection as unknown as { readonly stream?: Pick<Duplex, 'destroy'> }
  stream?.destroy(error)
}

/** Access refused, or something is declared otherwise: waiting does not help. */
const needsAPerson = (error: Error): boolean => 'code' in error && (error.code === 403 || error.code === 406)

function atMostEvery(ms: number): () => boolean {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - last < ms) return false
    last = now
    return true
  }
}
