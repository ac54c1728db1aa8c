import { createRequire } from 'node:module'
import type { Writable } from 'node:stream'
import amqplib, { type Options } from 'amqplib'

/** RabbitMQ has answered, and closes the connection before it is open. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused'
  /** Of AMQP: 403 for the login, 530 for the virtual host and for limits of connections. */
  readonly code: number

  /** @param message RabbitMQ's own words */
  constructor(code: number, message: string, options: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

type Opened = (error: Error | null, ok?: unknown) => void
interface Frame {
  readonly id?: number
  readonly fields?: { readonly replyCode: number; readonly replyText: string }
}
interface Connection {
  recvFrame: (this: Connection) => Frame | undefined
  open: (this: Connection, options: object, opened: Opened) => void
}

const inside = createRequire(createRequire(import.meta.url).resolve('amqplib'))
const { Connection } = inside('./lib/connection') as { readonly Connection: { readonly prototype: Connection } }
const { ConnectionClose } = inside('./lib/defs') as { readonly ConnectionClose: number }

// amqplib 2.3 names the frame that ends a handshake and leaves out RabbitMQ's reason, so this reads it from the frame.
const { open } = Connection.prototype
Connection.prototype.open = function (options, opened) {
  let close: Frame['fields']
  this.recvFrame = () => {
    const frame = Connection.prototype.recvFrame.call(this)
    if (frame?.id === ConnectionClose) close = frame.fields
    return frame
  }
  open.call(this, options, (error, ok) => {
    // The prototype's own again.
    Reflect.deleteProperty(this, 'recvFrame')
    if (error === null || close === undefined) return opened(error, ok)
    opened(new ConnectionRefused(close.replyCode, close.replyText, { cause: error }))
  })
}

export const { connect } = amqplib

/** A dead peer is detected after two to three missed heartbeats. */
const HEARTBEAT_SECONDS = 10

/** amqplib's own parser decodes passwords outside of ASCII wrongly. */
export function toConnectOptions(url: string): Options.Connect {
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(url)
  const number = (name: string): number | undefined =>
    searchParams.has(name) ? Number(searchParams.get(name)) : undefined
  const anonymous = username === '' && password === ''
  return {
    protocol: protocol.slice(0, -1),
    hostname: hostname.replace(/^\[|\]$/g, '') || 'localhost',
    port: port === '' ? undefined : Number(port),
    username: anonymous ? 'guest' : decodeURIComponent(username),
    password: anonymous ? 'guest' : decodeURIComponent(password),
    // amqplib decodes it.
    vhost: pathname.slice(1),
    heartbeat: number('heartbeat') ?? HEARTBEAT_SECONDS,
    frameMax: number('frameMax'),
    channelMax: number('channelMax'),
    locale: searchParams.get('locale') ?? undefined,
  } as Options.Connect
}

/** The part of amqplib's connection that its documentation does not describe. */
export interface RawConnection {
  readonly stream: Pick<Writable, 'cork' | 'uncork' | 'write'>
  readonly channels: { buffer: Pick<Writable, 'write'> & { end(): void } }[]
  freshChannel(...args: readonly unknown[]): number
}

/**
 * Writes the frames of later channels to the socket, with those of the same tick in one system call. amqplib hands them over in
 * a later iteration of the event loop, frame by frame, through a stream for each channel that limits how many wait. Here, the
 * confirms that callers await are the limit.
 */
export function writeDirectly(connection: RawConnection): void {
  const { stream } = connection
  gatherWrites(stream)
  const fresh = connection.freshChannel.bind(connection)
  connection.freshChannel = (...args) => {
    const number = fresh(...args)
    const entry = connection.channels[number]
    if (entry !== undefined) entry.buffer = { write: (frame: Buffer) => stream.write(frame), end: () => {} }
    return number
  }
}

/**
 * Sends the writes of one tick together. amqplib writes each frame on its own, which would be one system call per publish
 * or acknowledgement. No write waits longer than until the end of the tick.
 */
export function gatherWrites(stream: Pick<Writable, 'cork' | 'uncork' | 'write'>): void {
  const { write } = stream
  let isGathering = false
  const release = (): void => {
    isGathering = false
    stream.uncork()
  }
  stream.write = (...chunk: unknown[]): boolean => {
    if (!isGathering) {
      isGathering = true
      stream.cork()
      process.nextTick(release)
    }
    return Reflect.apply(write, stream, chunk) as boolean
  }
}
