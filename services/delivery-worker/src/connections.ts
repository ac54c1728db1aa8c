import type { LookupFunction, Socket } from 'node:net'
import type { AddressGuard } from '@switchhook/egress'
import { Agent, buildConnector } from 'undici'
import { BLOCKED_ADDRESS } from './lookup.ts'

export interface ConnectionOptions {
  /** Most connections to one origin. */
  readonly connections: number
  /** How long connecting may take, name look-up and TLS included. */
  readonly connectTimeoutMs: number
  /** Judges the address at the other end once more: what was vetted is what was connected to. */
  readonly guard: Pick<AddressGuard, 'allows'>
  /** Finds the addresses of a host name; never asked for an address. */
  readonly lookup: LookupFunction
}

/** The connections to endpoints. */
export interface Connections {
  /** Keeps a connection that is idle for a while. */
  readonly kept: Agent
  /** A connection of its own for each request. */
  readonly fresh: Agent
  /** Whether what broke had carried an answer before: then it may have been closed for being idle. */
  readonly wasReused: (error: Error) => boolean
  readonly close: () => Promise<void>
}

/** Below the usual 5 s after which servers close an idle connection, so that we rarely write into a closing one. */
const IDLE_MS = 4_000

export function openConnections({ connections, connectTimeoutMs, guard, lookup }: ConnectionOptions): Connections {
  const brokeOnReuse = new WeakSet<Error>()
  const connector = buildConnector({ timeout: connectTimeoutMs, lookup, allowH2: false })
  const connect: typeof connector = (options, callback) => {
    connector(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      if (!guard.allows(socket.remoteAddress ?? '')) {
        socket.destroy()
        const refusal = new Error(`${socket.remoteAddress} may not be connected to`)
        return callback(Object.assign(refusal, { code: BLOCKED_ADDRESS }), null)
      }
      noteReuse(socket, brokeOnReuse)
      callback(null, socket)
    })
  }
  // Each attempt has its own deadline, which is all that counts.
  const common = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 } as const
  const kept = new Agent({ ...common, connections, keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS })
  const fresh = new Agent({ ...common, pipelining: 0 })
  return {
    kept,
    fresh,
    wasReused: (error) => brokeOnReuse.has(error),
    close: async () => {
      await Promise.all([kept.destroy(), fresh.destroy()])
    },
  }
}

/** What TLS sends after its handshake is no answer. */
function noteReuse(socket: Socket, brokeOnReuse: WeakSet<Error>): void {
  let greetingBytes = socket.bytesRead
  socket.on('session', () => {
    greetingBytes = socket.bytesRead
  })
  socket.on('error', (error) => {
    if (socket.bytesRead > greetingBytes) brokeOnReuse.add(error)
  })
}
