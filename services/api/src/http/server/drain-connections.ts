import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface InFlight {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Prepares a server for a clean end: the function that it answers hangs up where nobody waits for anything, and
 * elsewhere after the answer. Node's own closing leaves connections alone that have never carried a request, and stops
 * minding the deadlines of the others.
 * @param unfinishedMs how long a client that is still sending gets to finish
 */
export function drainConnections(server: Server, unfinishedMs: number): () => void {
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
      if (connections.get(socket)?.response === response) connections.set(socket, undefined)
    })
  })

  return () => {
    isDraining = true
    for (const [socket, inFlight] of connections) {
      if (inFlight === undefined) socket.destroy()
      else if (!inFlight.response.headersSent) inFlight.response.setHeader('Connection', 'close')
    }
    setTimeout(() => {
      for (const [socket, inFlight] of connections) if (inFlight?.request.complete !== true) socket.destroy()
    }, unfinishedMs).unref()
  }
}
