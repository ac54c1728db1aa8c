import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Direction = 'toServer' | 'toClient'

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'amqp:': 5672, 'redis:': 6379, 'http:': 80 }

const CLOSE_WITHIN_MS = 1_000

/**
 * A TCP proxy between a client and a server, whose connections a test can cut, freeze or alter. Listens on a free loopback
 * port and forwards to the host and port of the target URL.
 */
export async function startTcpProxy(target: string) {
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
        // `end`, not `destroy`, so that earlier data still arrives.
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
    /** The target's URL with the address of the proxy. */
    url: url.href,
    connections: (): number => pairs.size,
    /** Number of connections accepted so far. */
    accepted: (): number => accepted,
    /** Resets every open connection. New connections are accepted. */
    cut,
    /** Resets the first connection that carries a matching chunk, once. */
    cutWhen: (matches: (chunk: Buffer, direction: Direction) => boolean): void => void (cutMatches = matches),
    /** From now on, replaces each chunk with the result of `change`. */
    alter: (change: (chunk: Buffer, direction: Direction) => Buffer): void => void (altered = change),
    /** Resets every open and every new connection until `accept`. */
    refuse: (): void => {
      refusing = true
      cut()
    },
    accept: (): void => void (refusing = false),
    /** Forwards nothing but keeps connections open until `thaw`, like a network that drops packets. */
    freeze: (): void => setFrozen(true),
    thaw: (): void => setFrozen(false),
    /** Sends new connections to the host and port of this URL, for a server that restarted on another port. */
    aim: (next: string): void => void (address = addressOf(next)),
    close: async (): Promise<void> => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      cut()
      // Once, the event did not come after many cuts, and the process of the fault suite ended before it had cleaned up.
      const waiting = new AbortController()
      const timeUp = sleep(CLOSE_WITHIN_MS, undefined, { signal: waiting.signal }).catch(() => {})
      await Promise.race([closed, timeUp])
      waiting.abort()
    },
  }
}

function addressOf(target: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(target)
  return { host: hostname, port: Number(port || DEFAULT_PORTS[protocol]) }
}

function reset([client, upstream]: readonly [Socket, Socket]): void {
  // libuv does not reset a socket that is shutting down, and Node 24 then busy-waits for it at process exit.
  if (client.writableEnded) client.destroy()
  else client.resetAndDestroy()
  upstream.destroy()
}
