import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { forward, untilListening } from './forward.ts'

let server: Server
let hosts: (string | undefined)[]
let port: number

beforeEach(async () => {
  hosts = []
  server = createServer((request, response) => {
    hosts.push(request.headers.host)
    response.writeHead(204).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const delivery = { headers: { 'content-type': 'application/json' }, body: '{}' } as never

test.each(['app.localhost', 'deep.app.localhost', 'localhost', '127.0.0.1'])(
  '%s is this machine, whatever the resolver of the system knows, and the application sees that name',
  async (name) => {
    const target = new URL(`http://${name}:${port}/hook`)
    await untilListening(target)
    await expect(forward(target, delivery)).resolves.toMatchObject({ status: 204 })
    expect(hosts).toEqual([`${name}:${port}`])
  },
)
