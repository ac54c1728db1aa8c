import dns from 'node:dns'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { forward, untilListening } from './forward.ts'

let server: Server
let hosts: (string | undefined)[]
let port: number

const { lookup } = dns
type Lookup = (name: string, options: object, done: (error: Error | null, address?: unknown) => void) => void

/** As on many systems, the resolver knows no other name of this machine than localhost. */
const lookupWithout: Lookup = (name, options, done) =>
  /\.localhost|localhost\./.test(name)
    ? done(Object.assign(new Error(`no such name: ${name}`), { code: 'ENOTFOUND' }))
    : (lookup as Lookup)(name, options, done)

beforeAll(() => void Object.assign(dns, { lookup: lookupWithout }))
afterAll(() => void Object.assign(dns, { lookup }))

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

test.each(['app.localhost', 'deep.app.localhost', 'app.localhost.', 'localhost.', 'localhost', '127.0.0.1'])(
  '%s is this machine, whatever the resolver of the system knows, and the application sees that name',
  async (name) => {
    const target = new URL(`http://${name}:${port}/hook`)
    // First, because the other one waits without end for a name that is not found.
    await expect(forward(target, delivery)).resolves.toMatchObject({ status: 204 })
    await untilListening(target)
    expect(hosts).toEqual([`${name}:${port}`])
  },
)
