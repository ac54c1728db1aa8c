import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface InProgress {
  readonly response: ServerResponse
  /** The client has sent more requests, without awaiting the answer. */
  isFollowed: boolean
  isPausing: boolean
}

/**
 * Passes on one request of a connection at a time. Node parses everything that a client has sent ahead and starts all of it
 * at once: 64 KB hold 2,400 requests. RFC 9112, section 9.3.2, expects a client that sends ahead (pipelines) to repeat what
 * was not answered: the connection ends with the answer in progress, and nothing more is read from it.
 */
export function oneRequestAtATime(listener: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, InProgress>()
  return (request, response) => {
    const { socket } = request
    const earlier = connections.get(socket)
    if (earlier === undefined) {
      const current: InProgress = { response, isFollowed: false, isPausing: false }
      connections.set(socket, current)
      response.once('close', () => {
        connections.delete(socket)
        if (current.isFollowed) socket.destroySoon()
      })
      return listener(request, response)
    }
    earlier.isFollowed = true
    if (!earlier.response.headersSent) earlier.response.setHeader('Connection', 'close')
    if (earlier.isPausing) return
    earlier.isPausing = true
    // Node resumes the socket after each request that it parses.
    process.nextTick(() => {
      earlier.isPausing = false
      socket.pause()
    })
  }
}
