import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const ORIGIN = 'https://app.example'

let api: ApiUnderTest
let authorization: string

useApi(
  ['acme'],
  (world) =>
    ({
      api,
      headers: {
        acme: { authorization },
      },
    } = world),
  {
    CORS_ORIGINS: `${ORIGIN},http://localhost:5173`,
  },
)

const preflight = (origin: string) =>
  fetch(`${api.url}${PATH}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type,if-match',
    },
  })

const listed = (headers: Headers, name: string): string[] => (headers.get(name) ?? '').split(/, ?/)

test('a preflight request from a listed origin needs no token, and allows methods and headers', async () => {
  const { status, headers } = await preflight(ORIGIN)
  expect(status).toBe(204)
  expect(headers.get('access-control-allow-origin')).toBe(ORIGIN)
  expect(listed(headers, 'access-control-allow-methods')).toEqual(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'])
  expect(listed(headers, 'access-control-allow-headers')).toEqual(['authorization', 'content-type', 'if-match'])
  expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0)
  expect(headers.has('ratelimit')).toBe(false)
})

test.each([
  ['an answer', 200, () => ({ authorization })],
  ['a refusal', 401, () => ({})],
])('%s shows its headers to a listed origin, without credentials', async (_what, status, more) => {
  const answer = await api.call('GET', PATH, { headers: { origin: ORIGIN, ...more() } })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  expect(listed(answer.headers, 'access-control-expose-headers').toSorted()).toEqual([
    'ETag',
    'Idempotent-Replayed',
    'Location',
    'Next-Cursor',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'WWW-Authenticate',
    'X-Request-Id',
  ])
})

test.each(['https://app.example.evil.example', 'http://app.example', 'https://sub.app.example', 'null'])(
  'the origin %s, which is not listed, is allowed nothing',
  async (origin) => {
    const read = await api.call('GET', PATH, { headers: { authorization, origin } })
    const page = await fetch(`${api.url}/api/v1/docs`, { headers: { origin } })
    expect(listed(page.headers, 'vary')).toContain('Accept-Encoding')
    for (const { headers } of [await preflight(origin), read, page]) {
      expect(headers.has('access-control-allow-origin')).toBe(false)
      expect(listed(headers, 'vary')).toContain('Origin')
    }
  },
)
