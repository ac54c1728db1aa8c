import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openUnknown, type UnknownInAsterisk } from './leftovers.ts'

let status: number
let server: Server
let unknown: UnknownInAsterisk

beforeEach(async () => {
  server = createServer((_request, response) => void response.writeHead(status).end())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  unknown = openUnknown({
    server: { url, user: 'switchhook', password: 'secret', ca: null },
    app: 'test',
    memory: { read: async () => [] },
    verifyStorage: async () => {},
  })
})
afterEach(async () => {
  await unknown.close()
  await new Promise((resolve) => void server.close(resolve))
})

const remove = (): Promise<void> => unknown.remove({ id: 'one' })

test.each([204, 404])('a channel is gone after the answer %i', async (answered) => {
  status = answered
  await expect(remove()).resolves.toBeUndefined()
})

test.each([401, 403, 409, 500, 503])('a channel counts as not removed after the answer %i', async (answered) => {
  status = answered
  await expect(remove()).rejects.toThrow(`Asterisk answered ${answered} to DELETE /channels/one`)
})
