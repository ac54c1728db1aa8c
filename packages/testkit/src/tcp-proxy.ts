import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Direction = 'toServer' | 'toClient'

/** A wire between a client and a server that a test can cut. */
export interface TcpProxy {
  readonly port: number
  /** The target's url, leading through here. */
  readonly url: string
  /** How many connections are open. */
  connections(): number
  /** How many were accepted in all. */
  accepted(): number
  /** Resets every open connection. New ones are served. */
  cut(): void
  /** Resets a connection as soon as it carries something that `matches`; asks no more after the first match. */
  cutWhen(matches: (chunk: Buffer, direction: Direction) => boolean): void
  /** Passes on what `change` makes of each chunk, for good: a server that is not as it should be. */
  alter(change: (chunk: Buffer, direction: Direction) => Buffer): void
  /** Resets every open connection, and every new one, until `accept`. */
  refuse(): void
  accept(): void
  /** Passes nothing on but keeps connections open, as a network does that drops packets, until `thaw`. */
  freeze(): void
  thaw(): void
  /** New connections lead to this url's host and port: a server that was restarted may have moved. */
  aim(target: string): void
  close(): Promise<void>
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'amqp:': 5672, 'redis:': 6379, 'http:': 80 }

/** Listens on a free port of loopback and passes everything on to the target url's host and port. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let address = addressOf(target)
  const pairs = new Set<readonly [Socket, Socket]>()
  let refusing = false
  let frozen = false
  let accepted = 0
  let cutMatches: ((chunk: Buffer, direction: Direction) => boolean) | undefined
  let altered: ((chunk: Buffer, direction: Direction) => Buffer) | undefined

  const server = createServer((client) => {
    if (refusing) {
      client.on('error', () => {}).resetAndDestroy()
      return
    }
    accepted += 1
    const upstream = connect(address)
    const pair = [client, upstream] as const
    pairs.add(pair)
    const pass = (from: Socket, to: Socket, direction: Direction): void => {
      from.on('data', (chunk) => {
        if (cutMatches?.(chunk, direction)) {
          cutMatches = undefined
          return reset(pair)
        }
        if (!to.write(altered?.(chunk, direction) ?? chunk)) from.pause()
      })
      to.on('drain', () => frozen || from.resume())
      from.on('error', () => reset(pair))
      from.on('close', () => {
        // Not destroyed: what it was sent before is still on its way.
        to.end()
        pairs.delete(pair)
      })
      if (frozen) from.pause()
    }
    pass(client, upstream, 'toServer')
    pass(upstream, client, 'toClient')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const own = server.address() as AddressInfo
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(own.port)

  const cut = (): void => {
    for (const pair of pairs) reset(pair)
  }
  const setFrozen = (value: boolean): void => {
    frozen = value
    for (const socket of [...pairs].flat()) {
      if (value) socket.pause()
      else socket.resume()
    }
  }
  return {
    port: own.port,
    url: url.href,
    connections: () => pairs.size,
    accepted: () => accepted,
    cut,
    cutWhen: (matches) => (cutMatches = matches),
    alter: (change) => (altered = change),
    refuse: () => {
      refusing = true
      cut()
    },
    accept: () => (refusing = false),
    freeze: () => setFrozen(true),
    thaw: () => setFrozen(false),
    aim: (next) => void (address = addressOf(next)),
    close: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}

function addressOf(target: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(target)
  return { host: hostname, port: Number(port || DEFAULT_PORTS[protocol]) }
}

function reset([client, upstream]: readonly [Socket, Socket]): void {
  // libuv refuses to reset what is just shutting down, and Node 24 then waits for it, spinning, when the process ends.
  if (client.writableEnded) client.destroy()
  else client.resetAndDestroy()
  upstream.destroy()
}
