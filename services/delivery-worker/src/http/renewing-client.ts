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
  let openNext: (() => void) | undefined
  /** Infinity: there is no connection, or the next one is being made or waits. */
  let renewAtMs = Infinity
  const renewLater = (): void => void (renewAtMs = performance.now() + maxAgeMs * (0.8 + 0.4 * Math.random()))

  const client = new Client(origin, {
    ...options,
    connect: (target, callback) => {
      const use = (socket: Socket): void => {
        present = socket
        renewLater()
        callback(null, socket)
      }
      const ready = next?.destroyed === false ? next.setTimeout(0) : undefined
      next = undefined
      renewAtMs = Infinity
      openNext = () => connect(target, (error, socket) => (error === null ? keep(socket) : renewLater()))
      // Undici does not expect to be called back before it returns.
      if (ready !== undefined) queueMicrotask(() => use(ready))
      else connect(target, (error, socket) => (error === null ? use(socket) : callback(error, null)))
    },
  })

  function keep(socket: Socket): void {
    if (client.destroyed) socket.destroy()
    else next = socket.on('error', () => {}).setTimeout(idleMs, () => socket.destroy())
  }

  const dispatch = client.dispatch.bind(client)
  client.dispatch = (request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    if (next?.destroyed === true) {
      next = undefined
      renewLater()
    }
    // The client connects again for this request, and takes the next connection.
    if (next !== undefined && client.stats.size === 0) present?.destroy()
    else if (performance.now() >= renewAtMs) {
      renewAtMs = Infinity
      openNext?.()
    }
    return dispatch(request, handler)
  }
  return client
}
