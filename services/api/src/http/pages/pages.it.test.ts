import { AppError, FAILURES, type FailureCode, toProblem } from '@switchhook/contracts'
import { type TestBroker, type TestRedis, testBroker, testRedis } from '@switchhook/testkit'
import { SPECS } from '../../describe-api.ts'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'

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

test.each(['/api/v1/docs', '/api/v1/docs/events', '/api/v1/docs/problems'])(
  '%s and all its assets are served by the api',
  async (path) => {
    const page = await read(path)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")

    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !/^(\/api\/v1\/|#\/|data:,$)/.test(link))).toEqual([])
    for (const link of links.filter((other) => other.startsWith('/'))) {
      const { status, headers, text } = await read(link)
      expect([link, status]).toEqual([link, 200])
      expect(headers.get('content-type')).toMatch(/^(text\/(html|css|javascript)|application\/json)/)
      expect(text.length).toBeGreaterThan(100)
    }
  },
)

test('the type of every problem leads to an entry of the page of errors', async () => {
  const { text } = await read('/api/v1/docs/problems')
  for (const code of Object.keys(FAILURES) as FailureCode[]) {
    const { type, title } = toProblem(new AppError(code), 'r1')
    const [path, fragment] = type.split('#')
    expect(path).toBe('/api/v1/docs/problems')
    expect(text).toContain(`<dt id="${fragment}">${FAILURES[code].status} <code>${code}</code></dt><dd>${title}. `)
  }
})

test.each(['/api/v1/openapi.json', '/api/v1/asyncapi.json'])('%s, which a page loads, is served', async (path) => {
  const { status, text } = await read(path)
  expect(status).toBe(200)
  expect(Object.keys(JSON.parse(text) as object)[0]).toMatch(/^(open|async)api$/)
})

test('a page that is asked for a range is answered in full', async () => {
  const response = await fetch(`${api.url}/api/v1/docs`, { headers: { range: 'bytes=99999999-' } })
  expect([response.status, await response.text()]).toEqual([200, (await read('/api/v1/docs')).text])
})

test.each([
  ['if-match', '"other"'],
  ['if-unmodified-since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
])('a page that is asked with %s: %s answers 412, and logs no error', async (name, value) => {
  const answer = await api.call('GET', '/api/v1/docs', { headers: { [name]: value } })
  expect(answer).toMatchObject({ status: 412, body: { code: 'precondition-failed' } })
  expect(api.log.filter(({ level }) => level === 'error')).toEqual([])
})

test('the pages are text before a script has run, and travel compressed', async () => {
  const rest = await read('/api/v1/docs')
  for (const { method, path, summary } of SPECS.filter(({ tag }) => tag !== 'simulator')) {
    expect(rest.text).toContain(`<code>${method.toUpperCase()} ${path}</code></a></dt><dd>${summary}</dd>`)
  }
  expect((await read('/api/v1/docs/events')).text).toContain('<code>call.status</code></a></dt>')
  for (const path of ['/api/v1/docs', '/api/v1/docs/events']) {
    const { text } = await read(path)
    expect(text.match(/<script(?! src="[^"]+" type="module">)/g)).toBeNull()
    const [script = ''] = /\/api\/v1\/docs\/assets\/\w[\w-]+\.js/.exec(text) ?? []
    expect((await read(script)).headers.get('content-encoding')).toBe('gzip')
  }
})

test('the pages have an origin of their own, run no text as code, and reach no other host', async () => {
  for (const path of ['/api/v1/docs', '/api/v1/docs/events', '/api/v1/docs/problems']) {
    const policy = (await read(path)).headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/; sandbox allow-scripts /)
    expect(policy).not.toMatch(/unsafe-eval|allow-same-origin|https?:/)
  }
  for (const path of ['/api/v1/docs/assets/redoc.standalone.js', '/api/v1/openapi.json', '/api/v1/asyncapi.json']) {
    expect((await read(path)).headers.get('access-control-allow-origin')).toBe('*')
  }
})

test('no other files of the folder are served', async () => {
  for (const path of ['/api/v1/docs/', '/api/v1/docs/assets/', '/api/v1/docs/assets/..%2fpackage.json']) {
    expect((await read(path)).status).toBe(404)
  }
})
