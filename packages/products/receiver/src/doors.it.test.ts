import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { createReceiver } from './receiver.ts'
import { aDelivery, aLeg, SECRET, type SentDelivery } from './testing/deliveries.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const seen: unknown[] = []
beforeEach(() => void seen.splice(0))
const open = () =>
  createReceiver({
    secrets: SECRET,
    on: { 'call.status': ({ data }) => void seen.push(data.sequence) },
    onError: () => {},
  })

type App = (request: IncomingMessage, response: ServerResponse) => unknown

async function listen(app: App): Promise<string> {
  const server = createServer((request, response) => void app(request, response)).listen(0, '127.0.0.1')
  closing.push(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const post = async (url: string, { body, headers }: SentDelivery = aDelivery({ data: aLeg(1) })) => {
  const response = await fetch(url, { method: 'POST', body, headers })
  return [response.status, await response.text()]
}

test.each<[string, () => App]>([
  ['node:http', () => open().node],
  ['Express', () => express().post('/', open().node)],
  [
    'Express with express.raw()',
    () =>
      express()
        .use(express.raw({ type: 'application/json' }))
        .post('/', open().node),
  ],
  [
    'Express with express.text()',
    () =>
      express()
        .use(express.text({ type: 'application/json' }))
        .post('/', open().node),
  ],
])('%s takes the bytes as they arrive', async (_case, app) => {
  const url = await listen(app())
  expect(await post(url, aDelivery({ data: { ...aLeg(1), name: 'Jörg 🎧' } }))).toEqual([204, ''])
  expect(await post(url, { ...aDelivery(), body: '{}' })).toEqual([401, expect.stringContaining('secret')])
  expect(seen).toEqual([1])
})

test('Express with express.json() in front of it is answered 500, with the line that repairs it', async () => {
  const url = await listen(express().use(express.json()).post('/', open().node))
  expect(await post(url)).toEqual([500, expect.stringContaining('above app.use(express.json())')])
  expect(seen).toEqual([])
})

test('a body of more than 4 MB is not read', async () => {
  const url = await listen(open().node)
  const { status, headers } = await fetch(url, { method: 'POST', body: 'x'.repeat(5_000_000) })
  // What is left of it is not the next request.
  expect([status, headers.get('connection')]).toEqual([413, 'close'])
})

test('Fastify: a plugin with its own parser, and the other routes keep theirs', async () => {
  const app = fastify()
  closing.push(() => app.close())
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, { given: body }),
  )
  await app.register(open().fastify, { prefix: '/hooks' })
  app.post('/other', async ({ body }) => body)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  expect(await post(`${url}/hooks`)).toEqual([204, ''])
  expect(await post(`${url}/hooks`, { ...aDelivery(), body: '{}' })).toEqual([401, expect.stringContaining('secret')])
  expect(await post(`${url}/other`, { ...aDelivery(), body: '{}' })).toEqual([200, '{"given":"{}"}'])
  expect(seen).toEqual([1])
})
