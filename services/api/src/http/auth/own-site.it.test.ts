import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { json, text } from 'node:stream/consumers'
import type { Surroundings } from '@switchhook/servicekit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const PATH = '/api/v1/webhooks/subscriptions'

let surroundings: Surroundings<'acme'>
let api: ApiUnderTest

useApi(['acme'], (world) => ({ around: surroundings, api } = world), {
  DEPLOYMENT: 'on-premise',
  TRUSTED_NETWORKS: '127.0.0.0/8',
  TRUSTED_NETWORK_TENANT: 'acme',
  ALLOWED_HOSTS: 'switchhook.example',
})

/** Over `node:http`, because fetch does not let a caller choose `Host`, `Origin` and `Sec-Fetch-Site`. */
async function send(method: string, path: string, headers: Record<string, string>, body = ''): Promise<unknown> {
  const sent = request({ host: '127.0.0.1', port: api.port, method, path, headers }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { code } = (await json(response)) as { readonly code?: string }
  return [response.statusCode, code]
}

async function aSubscription(): Promise<string> {
  const answer = await api.call('POST', PATH, { json: { url: 'https://client.example', eventTypes: ['call.status'] } })
  expect(answer.status).toBe(201)
  return (answer.body as { id: string }).id
}

test('a simple POST of another site does not rotate a secret in a trusted network', async () => {
  const rotate = `${PATH}/${await aSubscription()}/rotate-secret`
  const host = `127.0.0.1:${api.port}`
  const form = { host, 'content-type': 'text/plain' }
  const refused = [403, 'cross-site-request']
  expect(await send('POST', rotate, { ...form, origin: 'https://evil.example' })).toEqual(refused)
  expect(await send('POST', rotate, { ...form, 'sec-fetch-site': 'cross-site' })).toEqual(refused)
  expect(await send('POST', rotate, { ...form, origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' })).toEqual(
    refused,
  )
  expect(await send('POST', rotate, { ...form, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).toEqual([
    200,
    undefined,
  ])
})

test('a page that rebinds its name to this service reads nothing in a trusted network', async () => {
  expect(await send('GET', PATH, { host: `evil.example:${api.port}` })).toEqual([403, 'host-not-allowed'])
  expect(await send('GET', PATH, { host: `switchhook.example:${api.port}` })).toEqual([200, undefined])
  expect(await send('GET', PATH, { host: `localhost:${api.port}` })).toEqual([200, undefined])
})

test.each([
  ['1.1', 400],
  ['1.0', 403],
])('a request of HTTP/%s without a host reads nothing in a trusted network', async (version, status) => {
  const socket = connect(api.port, '127.0.0.1')
  socket.write(`GET ${PATH} HTTP/${version}\r\n\r\n`)
  expect(await text(socket)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*application/problem\\+json`))
})

test('a request with a token is not checked, because a foreign page has none', async () => {
  const foreign = { host: 'evil.example', origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  expect(await send('GET', PATH, { ...foreign, ...surroundings.bearer('acme') })).toEqual([200, undefined])
  expect(await send('GET', PATH, { ...foreign, authorization: 'Bearer x' })).toEqual([401, 'unauthorized'])
})
