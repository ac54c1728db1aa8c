import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy on loopback. While it is cut, it resets open connections and refuses new ones. */
export async function openCuttableProxy(targetPort: number) {
  const sockets = new Set<Socket>()
  const listener = (): Server =>
    createServer((near) => {
      const far = connect(targetPort, '127.0.0.1')
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
    })
  let isOpen = true
  let server = listener()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo

  function close(): void {
    server.close()
    for (const socket of sockets) socket.resetAndDestroy()
  }

  return {
    port,
    close,
    cut(isCut: boolean): void {
      if (isCut !== isOpen) return
      isOpen = !isCut
      if (isCut) return close()
      server = listener()
      server.listen(port, '127.0.0.1')
    },
  }
}
