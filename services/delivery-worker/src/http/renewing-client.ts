import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher } from 'undici'

export interface RenewalOptions {
  readonly connect: buildConnector.connector
  /** The age at which a connection is replaced, in ms, give or take a fifth. */
  readonly maxAgeMs: number
  /** How long the next connection is kept if no request comes, in ms. */
  readonly idleMs: number
}

/**
 * An undici client whose connection has a greatest age: under steady traffic it would be kept for ever, so the name would
 * never be looked up again and a host that has moved never be found. The first request after that age opens the next
 * connection beside the present one, and a request after that takes it, so none waits for a handshake. If no other
 * connection can be made, the present one goes on for as long again. Undici's `clientTtl` closes a client first, and
 * the next request waits for a handshake.
 */
export function createRenewingClient(
  origin: URL | string,
  options: Client.Options,
  { connect, maxAgeMs, idleMs }: RenewalOptions,
): Client {
  let present: Socket | undefined
  let next: Socket | undefined
  let target: buildConnector.Options | undefined
  /** Infinity: there is no connection, or the next one is being made. */
  let renewAtMs = Infinity
  const renewLater = (): number => performance.now() + maxAgeMs * (0.8 + 0.4 * Math.random())

  const client = new Client(origin, {
    ...options,
    connect: (wanted, callback) => {
      target = wanted
      renewAtMs = Infinity
      const use = (socket: Socket): void => {
        present = socket
        renewAtMs = renewLater()
        callback(null, socket)
      }
      const ready = takeNext()
      // Undici does not expect to be called back before it returns.
      if (ready !== undefined) queueMicrotask(() => use(ready))
      else connect(wanted, (error, socket) => (error === null ? use(socket) : callback(error, null)))
    },
  })

  function takeNext(): Socket | undefined {
    const ready = next
    next = undefined
    if (ready === undefined || ready.destroyed) return undefined
    return ready.setTimeout(0)
  }

  function openNext(wanted: buildConnector.Options): void {
    renewAtMs = Infinity
    const replaced = present
    connect(wanted, (error, socket) => {
      if (error !== null) {
        if (present === replaced) renewAtMs = renewLater()
        return
      }
      // The connection was lost meanwhile, and the client has made another, or has none to replace.
      if (present !== replaced || replaced?.destroyed !== false || client.destroyed) {
        socket.destroy()
        return
      }
      next = socket.on('error', () => {}).setTimeout(idleMs, () => socket.destroy())
    })
  }

  const dispatch = client.dispatch.bind(client)
  client.dispatch = (request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    if (next !== undefined && client.stats.size === 0) {
      if (next.destroyed) {
        next = undefined
        renewAtMs = renewLater()
      }
      // The client connects again for this request, and takes the next connection.
      else present?.destroy()
    } else if (performance.now() >= renewAtMs && target !== undefined) openNext(target)
    return dispatch(request, handler)
  }
  return client
}
