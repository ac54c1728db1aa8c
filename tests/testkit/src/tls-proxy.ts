import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import type { ServerCertificate } from './certificates.ts'

/** Accepts TLS on 127.0.0.1 and passes what it decrypts on to a server without TLS. */
export async function startTlsProxy(url: string, { key, certificate }: ServerCertificate) {
  const { hostname, port } = new URL(url)
  const open = new Set<TLSSocket>()
  const server = createServer({ key, cert: certificate }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port) })
    client.on('error', () => upstream.destroy()).pipe(upstream)
    upstream.on('error', () => client.destroy()).pipe(client)
    client.on('close', () => upstream.destroy())
    open.add(client)
    client.on('close', () => open.delete(client))
  })
  server.on('tlsClientError', () => {}) // The client under test reports it.
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Presents another certificate to new connections. */
    use: (other: ServerCertificate): void => server.setSecureContext({ key: other.key, cert: other.certificate }),
    close: async (): Promise<void> => {
      const closed = once(server, 'close')
      server.close()
      for (const client of open) client.destroy()
      await closed
    },
  }
}
