import { parseSubscriptionId } from '@switchhook/contracts'
import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { createVault, secretKeys, subscriptionHeader } from '@switchhook/signing'
import { createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
import { silentLog, startTcpProxy, type TcpProxy, unverified } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const NEW_KEY = `new:${Buffer.alloc(32, 2).toString('base64')}`
const OLD_KEY = `old:${Buffer.alloc(32, 1).toString('base64')}`
const VALUES = ['Bearer first-value-1', 'second-value-2', 'third-value-3'] as const

interface Shown {
  readonly id: string
  readonly headers: object | null
}

let around: Surroundings<'acme'>
let redis: Redis
let wire: TcpProxy
let passed = ''
let api: ApiUnderTest
let acme: { authorization: string }
/** Every answer of the api. */
let answers = ''

beforeAll(async () => {
  around = await startSurroundings('acme')
  redis = await openRedis({ url: [around.redis.redisUrl], log: silentLog, name: 'test' })
  wire = await startTcpProxy(around.redis.redisUrl)
  wire.alter((chunk) => {
    passed += chunk.toString('latin1')
    return chunk
  })
  api = await startApiUnderTest({ ...around.env, REDIS_URL: wire.url, SECRET_KEYS: OLD_KEY })
  acme = around.bearer('acme')
})

afterAll(async () => {
  await api.close()
  await Promise.all([wire.close(), redis.close()])
  await around.close()
})

async function call(method: 'GET' | 'POST' | 'PATCH', path: string, json?: object, key?: string, tag?: string) {
  const headers = { ...acme, ...(key !== undefined && { 'idempotency-key': key }), ...(tag && { 'if-match': tag }) }
  const answer = await api.call(method, path, { headers, ...(json !== undefined && { json }) })
  answers += JSON.stringify([answer.body, Object.fromEntries(answer.headers)])
  return { status: answer.status, body: answer.body as Shown, tag: answer.headers.get('etag') ?? '' }
}

const valuesOf = async (id: string, keys: string) => {
  const found = await createSubscriptionStore(redis, unverified, {}).find('acme', parseSubscriptionId(id))
  const vault = createVault(secretKeys().parse(keys))
  return Object.entries(found?.headers ?? {}).map(([name, value]) => [
    name,
    vault.open(value, subscriptionHeader('acme', id, name)),
  ])
}

const subscription = { url: 'https://client.example/hook', eventTypes: ['call.status'] }

test('values are sealed: no answer, log line, record or idempotency record has one in clear', async () => {
  const body = { ...subscription, headers: { Authorization: VALUES[0], 'X-Key': VALUES[1] } }
  const { body: created, tag } = await call('POST', PATH, body, 'create')
  expect(created.headers).toEqual({ authorization: '***', 'x-key': '***' })
  expect((await call('POST', PATH, body, 'create')).body).toEqual(created)
  const path = `${PATH}/${created.id}`
  const change = { headers: { 'x-key': VALUES[2], authorization: '***' } }
  const changed = await call('PATCH', path, change, 'change', tag)
  expect(changed.tag).not.toBe(tag)
  expect(changed.body.headers).toEqual({ authorization: '***', 'x-key': '***' })
  expect((await call('PATCH', path, change)).tag).toBe(changed.tag)
  expect((await call('PATCH', path, { url: 'https://other.example' })).status).toBe(400)
  expect((await call('PATCH', path, { headers: { 'x-bad': `${VALUES[1]}\n` } })).status).toBe(400)
  expect(await valuesOf(created.id, OLD_KEY)).toEqual([
    ['authorization', VALUES[0]],
    ['x-key', VALUES[2]],
  ])
  // What reading shows can be sent back.
  const { body: read } = await call('GET', path)
  expect((await call('PATCH', path, read)).tag).toBe(changed.tag)
  await call('GET', '/api/v1/audit?list=webhooks')
  const logged = JSON.stringify(api.log)
  expect(answers).toContain('subscription.changed')
  expect(passed).toContain('x-key')
  for (const value of VALUES.map((text) => text.replace('Bearer ', ''))) {
    for (const text of [answers, logged, passed]) expect(text).not.toContain(value)
  }
})

test('a starting api reseals them with the new key', async () => {
  const { body } = await call('POST', PATH, { ...subscription, headers: { 'x-key': VALUES[1] } })
  const other = await startApiUnderTest({ ...around.env, SECRET_KEYS: `${NEW_KEY},${OLD_KEY}` })
  await other.close()
  expect(await valuesOf(body.id, NEW_KEY)).toEqual([['x-key', VALUES[1]]])
})
