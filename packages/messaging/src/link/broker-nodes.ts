import type { Options } from 'amqplib'

/** A peer that vanished without a word is noticed after two to three of these. */
const HEARTBEAT_SECONDS = 10

/** The nodes of one RabbitMQ, of which one at a time is connected to. */
export interface BrokerNodes {
  /** The node to connect to, always the same object: what it says changes with `next`. */
  readonly target: Options.Connect
  /** From now on the one after it, in the order given, and after the last the first. */
  next(): void
}

/** Begins with any of them, so that the connections of many replicas spread over the nodes. */
export function createBrokerNodes(urls: readonly string[], random: () => number = Math.random): BrokerNodes {
  const nodes = urls.map(toConnectOptions)
  let at = Math.floor(random() * nodes.length)
  const target: Options.Connect = { ...nodes[at] }
  return {
    target,
    next: () => {
      at = (at + 1) % nodes.length
      Object.assign(target, nodes[at])
    },
  }
}

/** Every field is named in each, so that none of the node before is left when the next one is assigned. */
function toConnectOptions(url: string): Options.Connect {
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
    // The library decodes it.
    vhost: pathname.slice(1),
    heartbeat: number('heartbeat') ?? HEARTBEAT_SECONDS,
    frameMax: number('frameMax'),
    channelMax: number('channelMax'),
    locale: searchParams.get('locale') ?? undefined,
  } as Options.Connect
}
