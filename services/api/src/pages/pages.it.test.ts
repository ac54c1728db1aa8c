import { type TestBroker, type TestRedis, testBroker, testRedis } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../testing/api-under-test.ts'

let broker: TestBroker
let redis: TestRedis
let api: ApiUnderTest

beforeAll(async () => {
  ;[broker, redis] = await Promise.all([testBroker(), testRedis()])
  api = await startApiUnderTest({
    AMQP_URL: broker.amqpUrl,
    REDIS_URL: redis.redisUrl,
    DEPLOYMENT: 'on-premise',
    TRUSTED_NETWORKS: '127.0.0.0/8',
  })
})

afterAll(async () => {
  await api.close()
  await Promise.all([broker.close(), redis.close()])
})

const read = async (path: string) => {
  const response = await fetch(`${api.url}${path}`)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test.each(['/api/v1/docs', '/api/v1/docs/events'])('%s and all its assets are served by the api', async (path) => {
  const page = await read(path)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toMatch(/^text\/html/)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")

  const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
  expect(links.filter((link) => !link.startsWith('/api/v1/') && link !== 'data:,')).toEqual([])
  for (const link of links.filter((other) => other.startsWith('/'))) {
    const { status, headers, text } = await read(link)
    expect([link, status]).toEqual([link, 200])
    expect(headers.get('content-type')).toMatch(/^text\/(html|css|javascript)/)
    expect(text.length).toBeGreaterThan(100)
  }
})

test.each(['/api/v1/openapi.json', '/api/v1/asyncapi.json'])('%s, which a page loads, is served', async (path) => {
  const { status, text } = await read(path)
  expect(status).toBe(200)
  expect(Object.keys(JSON.parse(text) as object)[0]).toMatch(/^(open|async)api$/)
})

test('no other files of the folder are served', async () => {
  for (const path of ['/api/v1/docs/', '/api/v1/docs/assets/', '/api/v1/docs/assets/..%2fpackage.json']) {
    expect((await read(path)).status).toBe(404)
  }
})
