import type { Options } from 'amqplib'

/** A dead peer is detected after two to three missed heartbeats. */
const HEARTBEAT_SECONDS = 10

/**
 * The nodes of one RabbitMQ cluster, of which a link connects to one at a time. Starts at a random one, so that the
 * connections of many replicas are spread over the cluster.
 */
export function createBrokerNodes(urls: readonly string[], random: () => number = Math.random) {
  const nodes = urls.map(toConnectOptions)
  let at = Math.floor(random() * nodes.length)
  const target: Options.Connect = { ...nodes[at] }
  return {
    /** The node to connect to. `next` changes this object in place, because amqplib keeps the reference. */
    target,
    /** Moves to the next node in the given order; the last is followed by the first. */
    next: (): void => {
      at = (at + 1) % nodes.length
      Object.assign(target, nodes[at])
    },
  }
}

/** Always sets every field: `next` assigns over the previous node, and a missing field would keep its value. */
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
