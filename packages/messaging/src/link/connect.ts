import { createRequire } from 'node:module'
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
