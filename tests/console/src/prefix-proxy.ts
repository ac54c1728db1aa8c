import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** A reverse proxy that serves an installation below `/switchhook`, and can be cut. */
export interface PrefixProxy {
  readonly url: string
  /** While it is cut, every connection is closed immediately. */
  cut(isCut: boolean): void
  close(): Promise<void>
}

const PREFIX = '/switchhook'

export async function startPrefixProxy(target: string): Promise<PrefixProxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith(`${PREFIX}/`)) {
      outgoing.writeHead(404).end()
      return
    }
    const { method, headers } = incoming
    const forwarded = request(`${target}${incoming.url.slice(PREFIX.length)}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  server.on('connection', (socket) => {
    if (isCut) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`,
    cut: (wanted) => {
      isCut = wanted
      if (isCut) dropAll()
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      dropAll()
      await closed
    },
  }
}
