import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An endpoint that acknowledges immediately and counts. Answers every message with the number of POSTs. */
let posts = 0
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    posts += 1
    response.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.on('message', () => process.send?.({ posts }))
process.on('disconnect', () => process.exit())
process.send?.({ port: (server.address() as AddressInfo).port })
