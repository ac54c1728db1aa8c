import type { Surroundings } from '@switchhook/servicekit'
import { eventually } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const PATH = '/api/v1/webhooks/subscriptions'

let around: Surroundings<'acme'>
let api: ApiUnderTest

useApi(['acme'], (world) => ({ around, api } = world))

const linesOf = async (name: string): Promise<string[]> =>
  (await api.metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`))

test('requests count by the path pattern of their route, and clients cannot create labels', async () => {
  const headers = around.bearer('acme')
  const madeUp = crypto.randomUUID()
  await api.call('GET', PATH, { headers })
  await api.call('GET', `${PATH}/${madeUp}`, { headers })
  await api.call('GET', PATH)
  await fetch(`${api.url}/${madeUp}?tenant=${madeUp}`)
  await fetch(`${api.url}${PATH}`, { method: 'PROPFIND' })

  await eventually(async () => {
    const requests = await linesOf('switchhook_http_requests_total')
    expect(requests.filter((line) => line.includes('webhooks') || line.includes('"none"')).toSorted()).toEqual([
      `switchhook_http_requests_total{route="${PATH}",method="GET",status="200",service="api"} 1`,
      `switchhook_http_requests_total{route="${PATH}",method="GET",status="401",service="api"} 1`,
      `switchhook_http_requests_total{route="${PATH}/{id}",method="GET",status="404",service="api"} 1`,
      'switchhook_http_requests_total{route="none",method="any",status="404",service="api"} 1',
      'switchhook_http_requests_total{route="none",method="any",status="405",service="api"} 1',
    ])
  })
  expect(await linesOf('switchhook_http_request_duration_seconds_count')).toContain(
    `switchhook_http_request_duration_seconds_count{route="${PATH}",method="GET",service="api"} 2`,
  )
  expect(await api.metrics.text()).not.toContain(madeUp)
})

test('requests that wait on purpose count without their duration', async () => {
  const headers = around.bearer('acme')
  for (const action of ['receive', 'check', 'test']) {
    await api.call('POST', `${PATH}/${crypto.randomUUID()}/${action}`, { headers, json: {} })
  }
  const seriesOf = async (name: string) =>
    (await linesOf(name)).flatMap((line) => /(?<=\{id\}\/)(?:receive|check|test)(?=")/.exec(line) ?? [])
  await eventually(async () => {
    expect(await seriesOf('switchhook_http_requests_total')).toEqual(['receive', 'check', 'test'])
  })
  expect(await seriesOf('switchhook_http_request_duration_seconds_count')).toEqual(['test'])
})
