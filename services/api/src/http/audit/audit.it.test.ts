import { deliveryIdOf, newEventId, parseSubscriptionId } from '@switchhook/contracts'
import { attemptOf, newDelivery, type Surroundings } from '@switchhook/servicekit'
import { createDeliveryStore, type Redis } from '@switchhook/store'
import { UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const SECRET_URL = 'https://client.example/hooks/path-that-is-a-secret'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

interface Entry {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly requestId: string
}

interface Page {
  readonly items: readonly Entry[]
  readonly nextCursor: string | null
}

let surroundings: Surroundings<'acme' | 'globex'>
let api: ApiUnderTest
let redis: Redis
let acme: { authorization: string }
let globex: { authorization: string }

useApi(
  ['acme', 'globex'],
  (world) => {
    ;({ around: surroundings, api, redis } = world)
    acme = surroundings.bearer('acme', { azp: 'crm', sub: 'jane' })
    globex = surroundings.bearer('globex')
  },
  { TRUST_PROXY: '127.0.0.0/8', AUDIT_LOG_SIZE: '5' },
)
beforeEach(() => surroundings.redis.flush())

async function create(headers: Record<string, string> = acme): Promise<{ id: string; requestId: string }> {
  const json = { url: SECRET_URL, eventTypes: ['call.status'], description: 'CRM', id: 'ignored' }
  const answer = await api.call('POST', SUBSCRIPTIONS, { headers, json })
  expect(answer.status).toBe(201)
  return { id: (answer.body as { id: string }).id, requestId: answer.headers.get('x-request-id') ?? '' }
}

/** A disabled subscription with a parked delivery, so that its recovery goes on until it is cancelled. */
async function createDisabled(times: number): Promise<string> {
  const { id } = await create()
  for (let time = 0; time < times; time++) {
    await api.call('PATCH', `${SUBSCRIPTIONS}/${id}`, { headers: acme, json: { enabled: false } })
  }
  const retention = { finishedRetentionMs: 60_000, parkedRetentionMs: 60_000, scheduleOf: unscheduled }
  const parked = newDelivery(id)
  await createDeliveryStore(redis, retention, UNLIMITED, unverified).park(parked, attemptOf(parked), 'exhausted')
  return id
}

async function read(query = '', headers = acme): Promise<Page> {
  const { status, body } = await api.call('GET', `/api/v1/audit${query}`, { headers })
  expect(status).toBe(200)
  return body as Page
}

const actions = async (query = '', headers = acme): Promise<string[]> =>
  (await read(query, headers)).items.map(({ action }) => action)

test('an entry says who did what, to what, from where and when, without values', async () => {
  const before = Date.now()
  const { id, requestId } = await create({
    ...acme,
    'x-forwarded-for': '198.51.100.1, 203.0.113.7',
    'user-agent': 'crm/4.2',
    traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
  })
  const page = await read()
  expect(page).toEqual({
    items: [
      {
        id: expect.stringMatching(/^\d+-\d+$/),
        at: expect.any(String),
        action: 'subscription.created',
        clientId: 'crm',
        subject: 'jane',
        issuer: surroundings.idps.acme.issuer,
        on: { subscriptionId: id },
        fields: ['url', 'eventTypes', 'description'],
        address: '203.0.113.7',
        userAgent: 'crm/4.2',
        status: 201,
        requestId,
        traceId: TRACE,
      },
    ],
    nextCursor: null,
  })
  expect(Math.abs(Date.parse(page.items[0]?.at ?? '') - before)).toBeLessThan(10_000)
  expect(JSON.stringify(page)).not.toContain('secret')
  const line = api.log.find(({ message, fields }) => message === 'audit' && fields['requestId'] === requestId)
  expect(line).toMatchObject({ level: 'info', fields: { tenant: 'acme', action: 'subscription.created' } })
})

test('changes and deletions are recorded, reads and rejected requests are not', async () => {
  const { id } = await create()
  const one = `${SUBSCRIPTIONS}/${id}`
  const send = async (method: string, path: string, status: number, json?: object): Promise<void> => {
    const request = { headers: acme, ...(json && { json }) }
    expect([method, path, (await api.call(method, path, request)).status]).toEqual([method, path, status])
  }
  const unknownId = deliveryIdOf(newEventId(), parseSubscriptionId(id))
  await send('PATCH', one, 200, { enabled: false })
  await send('GET', one, 200)
  await send('PATCH', one, 400, { url: 'x' })
  await send('POST', `/api/v1/webhooks/deliveries/${unknownId}/redeliver`, 404)
  await send('DELETE', one, 204)
  await send('DELETE', one, 404)
  const { items } = await read()
  expect(items).toMatchObject([
    { action: 'subscription.deleted', status: 204, fields: [], on: { subscriptionId: id } },
    { action: 'subscription.changed', status: 200, fields: ['enabled'], on: { subscriptionId: id } },
    { action: 'subscription.created', status: 201 },
  ])
})

test('requests that change nothing leave no entry: an empty change, a recovery that already runs, a preview', async () => {
  const id = await createDisabled(1)
  const send = async (method: string, path: string, status: number, json?: object): Promise<unknown> => {
    const answer = await api.call(method, path, { headers: acme, ...(json && { json }) })
    expect([method, path, answer.status]).toEqual([method, path, status])
    return answer.body
  }
  await send('PATCH', `${SUBSCRIPTIONS}/${id}`, 200, {})
  await send('POST', `${SUBSCRIPTIONS}/${id}/recover/preview`, 200, {})
  const { recoveryId } = (await send('POST', `${SUBSCRIPTIONS}/${id}/recover`, 202, {})) as { recoveryId: string }
  expect(await send('POST', `${SUBSCRIPTIONS}/${id}/recover`, 202, {})).toMatchObject({ recoveryId })
  await send('POST', `/api/v1/webhooks/recoveries/${recoveryId}/cancel`, 200)
  const on = { subscriptionId: id, recoveryId }
  expect((await read()).items).toMatchObject([
    { action: 'recovery.cancelled', on },
    { action: 'recovery.started', on },
    { action: 'subscription.changed', fields: ['enabled'] },
    { action: 'subscription.created' },
  ])
})

// The process may have died after the change of the first request and before its entry.
test('a repeated change or cancellation is recorded again', async () => {
  const id = await createDisabled(2)
  const begun = await api.call('POST', `${SUBSCRIPTIONS}/${id}/recover`, { headers: acme, json: {} })
  const { recoveryId } = begun.body as { recoveryId: string }
  for (let times = 0; times < 2; times++) {
    await api.call('POST', `/api/v1/webhooks/recoveries/${recoveryId}/cancel`, { headers: acme })
  }
  expect((await read()).items.map(({ action }) => action)).toEqual([
    'recovery.cancelled',
    'recovery.cancelled',
    'recovery.started',
    'subscription.changed',
    'subscription.changed',
  ])
})

test('an answer replayed for its Idempotency-Key is one entry', async () => {
  const headers = { ...acme, 'idempotency-key': 'once' }
  const { requestId } = await create(headers)
  await create(headers)
  expect((await read()).items.map((entry) => entry.requestId)).toEqual([requestId])
})

test('each tenant sees its own entries', async () => {
  await create()
  await create(globex)
  expect(await actions()).toEqual(['subscription.created'])
  expect((await read('', globex)).items[0]).toMatchObject({ issuer: surroundings.idps.globex.issuer })
  expect((await read('', globex)).items).toHaveLength(1)
})

test('the log is read in pages, by action and by time', async () => {
  const { id } = await create()
  for (const enabled of [false, true]) {
    await api.call('PATCH', `${SUBSCRIPTIONS}/${id}`, { headers: acme, json: { enabled } })
  }
  const first = await read('?limit=2')
  expect(first.items.map(({ action }) => action)).toEqual(['subscription.changed', 'subscription.changed'])
  const second = await read(`?limit=2&cursor=${first.nextCursor}`)
  expect(second.items.map(({ action }) => action)).toEqual(['subscription.created'])
  expect(second.nextCursor).toBeNull()
  expect(await actions('?action=subscription.created')).toEqual(['subscription.created'])
  expect(await actions('?action=recovery.started')).toEqual([])
  const at = second.items[0]?.at ?? ''
  expect(await actions(`?to=${at}`)).toEqual([])
  expect(await actions(`?from=${at}`)).toHaveLength(3)
  expect(await actions('?from=2999-01-01T00:00:00Z')).toEqual([])
})

test('the log holds at most AUDIT_LOG_SIZE entries', async () => {
  for (let n = 0; n < 7; n++) await create()
  expect(await actions()).toHaveLength(5)
})

test.each([
  'from=yesterday',
  'from=2026-12-31T23:59:60Z',
  'to=2026-01-01',
  'to=2026-11-20T17:06:00Z&from=2026-11-20T17:06:01Z',
  'action=unheard-of',
  'limit=0',
  'limit=101',
  'cursor=MQ',
  // 0-0
  'cursor=MC0w',
  'cursor=%2B',
])('?%s answers 400', async (query) => {
  const { status, body } = await api.call('GET', `/api/v1/audit?${query}`, { headers: acme })
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: 'invalid-request', errors: [{ pointer: `/${query.split('=')[0]}` }] })
})
