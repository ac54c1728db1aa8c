import { createSocket } from 'node:dgram'
import { promises as dns } from 'node:dns'
import { once } from 'node:events'

/** Imported before a service starts: its only name server never answers. */
const silent = createSocket('udp4').bind(0, '127.0.0.1')
await once(silent, 'listening')
silent.unref()
const { port } = silent.address()

const { Resolver } = dns
dns.Resolver = class extends Resolver {
  constructor(...options: ConstructorParameters<typeof Resolver>) {
    super(...options)
    this.setServers([`127.0.0.1:${port}`])
  }
}
