import { request as httpRequest } from 'node:http'
import { type Receiver, startReceiver } from './receiver.ts'

let receiver: Receiver

beforeEach(async () => {
  receiver = await startReceiver()
})

afterEach(() => receiver.close())

const post = (path: string, body = ''): Promise<Response> => fetch(receiver.url(path), { method: 'POST', body })

test('answers 204 and records the request, byte for byte', async () => {
  const response = await fetch(receiver.url('/hook?a=1'), {
    method: 'POST',
    headers: { 'X-Some': 'Thing' },
    body: Buffer.from([0, 255, 10]),
  })
  expect(response.status).toBe(204)
  const [request] = await receiver.waitFor(1, '/hook?a=1')
  expect(request).toMatchObject({ method: 'POST', path: '/hook?a=1', body: Buffer.from([0, 255, 10]) })
  expect(request?.headers['x-some']).toBe('Thing')
})

test('answers from a list in order and repeats the last answer', async () => {
  receiver.answer('/hook', [{ status: 500 }, { status: 429 }, { status: 200 }])
  const statuses: number[] = []
  for (let call = 0; call < 4; call += 1) statuses.push((await post('/hook')).status)
  expect(statuses).toEqual([500, 429, 200, 200])
  expect((await post('/other')).status).toBe(204)
})

test('passes the request and its index on the path to a function', async () => {
  receiver.answer('/hook', ({ body }, index) => ({ status: body.toString() === 'go' ? 200 : 400 + index }))
  expect((await post('/hook', 'no')).status).toBe(400)
  expect((await post('/hook', 'no')).status).toBe(401)
  expect((await post('/hook', 'go')).status).toBe(200)
})

test('can hang, reset the connection, or send an endless body', async () => {
  receiver.answer('/hang', { instead: 'hang' })
  receiver.answer('/reset', { instead: 'reset' })
  receiver.answer('/endless', { instead: 'endless', status: 200 })
  await expect(fetch(receiver.url('/hang'), { signal: AbortSignal.timeout(100) })).rejects.toThrow('timeout')
  await expect(fetch(receiver.url('/reset'))).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
  const response = await fetch(receiver.url('/endless'))
  const reader = response.body?.getReader()
  await reader?.read()
  expect((await reader?.read())?.done).toBe(false)
  await reader?.cancel()
})

test('does not record an incomplete request', async () => {
  const client = httpRequest(receiver.url('/hook'), { method: 'POST', headers: { 'content-length': '10' } })
  const failed = new Promise((resolve) => client.once('error', resolve))
  client.write('half', () => client.destroy())
  await failed
  await post('/hook', 'whole')
  expect(receiver.requests().map(({ body }) => body.toString())).toEqual(['whole'])
})

test('a failed wait reports how many requests arrived', async () => {
  await post('/hook')
  await expect(receiver.waitFor(2, '/hook', { timeoutMs: 30 })).rejects.toThrow('1 of 2 requests came to /hook')
})
