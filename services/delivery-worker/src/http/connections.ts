import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LookupFunction, Socket } from 'node:net'
import type { AddressGuard } from '@switchhook/egress'
import { Agent, buildConnector, type DiagnosticsChannel } from 'undici'
import { BLOCKED_ADDRESS } from './lookup.ts'
import { type ContinueFilter, createContinueFilter, filterReads } from './skip-continue.ts'

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
  /** Whether a connection that was kept broke before the first byte of an answer: it may have been closed for being idle. */
  readonly brokeOnReuse: (error: Error) => boolean
  readonly close: () => Promise<void>
}

/** Below the usual 5 s after which servers close an idle connection, so that we rarely write into a closing one. */
const IDLE_MS = 4_000

/** https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
const SEND_HEADERS = 'undici:client:sendHeaders'

interface Usage {
  requests: number
  /** What had been read when the last request began. */
  bytesBefore: number
  readonly answers: ContinueFilter
}

export function openConnections({ connections, connectTimeoutMs, guard, lookup }: ConnectionOptions): Connections {
  const stale = new WeakSet<Error>()
  const usages = new WeakMap<Socket, Usage>()
  const noteRequest = (message: unknown): void => {
    const { socket } = message as DiagnosticsChannel.ClientSendHeadersMessage
    const usage = usages.get(socket)
    if (usage === undefined) return
    usage.requests += 1
    usage.bytesBefore = socket.bytesRead
    usage.answers.expectAnswer()
  }
  // The only place where undici shows which connection carries a request.
  subscribe(SEND_HEADERS, noteRequest)
  const connector = buildConnector({ timeout: connectTimeoutMs, lookup, allowH2: false })
  const connect: typeof connector = (options, callback) => {
    connector(options, (error, socket) => {
      if (error !== null) return callback(error, null)
      if (!guard.allows(socket.remoteAddress ?? '')) {
        socket.destroy()
        const refusal = new Error(`${socket.remoteAddress} may not be connected to`)
        return callback(Object.assign(refusal, { code: BLOCKED_ADDRESS }), null)
      }
      const usage: Usage = { requests: 0, bytesBefore: 0, answers: createContinueFilter() }
      usages.set(socket, usage)
      filterReads(socket, usage.answers)
      socket.on('error', (broken) => {
        if (usage.requests > 1 && socket.bytesRead === usage.bytesBefore) stale.add(broken)
      })
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
    brokeOnReuse: (error) => stale.has(error),
    close: async () => {
      unsubscribe(SEND_HEADERS, noteRequest)
      await Promise.all([kept.destroy(), fresh.destroy()])
    },
  }
}
