import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { withDocument } from '../openapi/document-routes.ts'
import type { RouteRequest } from '../route.ts'
import { sendJson } from '../send.ts'

let server: Server

beforeAll(async () => {
  const app = express()
  for (const route of withDocument([], () => ({}))) {
    app.get(route.path, async (_request, response) => {
      const { status, body } = await route.handle({} as RouteRequest)
      await sendJson(response, status, body)
    })
  }
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(async () => {
  server.close()
  await once(server, 'close')
})

test.each(['openapi', 'asyncapi'])('the %s document, which needs no token, is serialised once', async (name) => {
  const { port } = server.address() as AddressInfo
  const read = async (encoding: string): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${port}/api/v1/${name}.json`, { headers: { 'accept-encoding': encoding } })).json()
  const stringify = jest.spyOn(JSON, 'stringify')
  const [first, ...others] = [await read('gzip'), await read('identity'), await read('gzip')]
  const times = stringify.mock.calls.filter(([value]) => Object.hasOwn(value as object, name)).length
  stringify.mockRestore()
  expect(first).toMatchObject({ [name]: expect.any(String) })
  expect(others).toEqual([first, first])
  expect(times).toBe(1)
})
