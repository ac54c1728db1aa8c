import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A client that is still sending when we shut down gets so long to finish. */
const UNFINISHED_REQUEST_MS = 5_000

interface InFlight {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Prepares a server for a clean end: the function that it answers hangs up where nobody waits for anything, and
 * elsewhere after the answer. Node's own closing leaves connections alone that have never carried a request, and stops
 * minding the deadlines of the others.
 */
export function drainConnections(server: Server): () => void {
  const connections = new Map<Socket, InFlight | undefined>()
  let isDraining = false

  server.on('connection', (socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', (request, response) => {
    const { socket } = request
    connections.set(socket, { request, response })
    if (isDraining) response.setHeader('Connection', 'close')
    response.once('close', () => {
      if (connections.has(socket)) connections.set(socket, undefined)
    })
  })

  return () => {
    isDraining = true
    for (const [socket, inFlight] of connections) {
      if (inFlight === undefined) socket.destroy()
      else if (!inFlight.response.headersSent) inFlight.response.setHeader('Connection', 'close')
    }
    const hangUp = (): void => {
      for (const [socket, inFlight] of connections) if (inFlight?.request.complete !== true) socket.destroy()
    }
    setTimeout(hangUp, UNFINISHED_REQUEST_MS).unref()
  }
}
