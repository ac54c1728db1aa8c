import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A usual request is one piece. The shortest ones fill it with 200. */
const PIECE_BYTES = 4_096

/**
 * Passes on one request of a connection at a time. Node parses everything that it has read, 64 KB or 2,400 requests, before
 * anything else runs, so it gets a connection's bytes in pieces, and none after a request that did not await the answer.
 * RFC 9112, section 9.3.2, expects a client that sends ahead (pipelines) to repeat what was not answered: the connection
 * ends with the answer in progress.
 * @param server gets its requests by listeners that this function returned
 */
export function oneRequestAtATime(server: Server, listener: RequestListener): RequestListener {
  const inProgress = new WeakMap<Socket, ServerResponse>()
  const followed = new WeakSet<Socket>()
  server.on('connection', (socket) => readInPieces(socket, () => !followed.has(socket)))
  return (request, response) => {
    const { socket } = request
    const earlier = inProgress.get(socket)
    if (earlier !== undefined) {
      followed.add(socket)
      if (!earlier.headersSent) earlier.setHeader('Connection', 'close')
      return
    }
    inProgress.set(socket, response)
    response.once('close', () => {
      inProgress.delete(socket)
      if (followed.has(socket)) socket.destroySoon()
    })
    listener(request, response)
  }
}

/**
 * While a stream has a `readable` listener, its `data` listeners, such as Node's parser, get what is read here. Node's parser
 * must get nothing while its own answer waits for the client; it does not, because such an answer is in progress.
 */
function readInPieces(socket: Socket, isWanted: () => boolean): void {
  socket.on('readable', () => {
    while (isWanted()) {
      const piece: unknown = socket.read(socket.readableLength > PIECE_BYTES ? PIECE_BYTES : undefined)
      // After the answer to a piece that is no HTTP, Node would destroy the connection at the next one.
      if (piece === null || !socket.writable) return
    }
  })
}
