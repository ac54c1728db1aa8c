import { newEventId, newSubscriptionId } from '@switchhook/contracts'
import { loggedEvent, type Surroundings } from '@switchhook/servicekit'
import { createJournal, type Redis } from '@switchhook/store'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const WEBHOOKS = '/api/v1/webhooks'
const ENDS = { 'call.status': { state: [7] } }

let surroundings: Surroundings<'acme' | 'globex' | 'initech'>
let api: ApiUnderTest
let redis: Redis

useApi(['acme', 'globex', 'initech'], (world) => ({ around: surroundings, api, redis } = world))

const call = (method: string, path: string, json: object | undefined, tenant: 'acme' | 'globex' | 'initech') =>
  api.call(method, `${WEBHOOKS}${path}`, { headers: surroundings.bearer(tenant), ...(json && { json }) })

describe('the filter of a subscription', () => {
  const settings = { url: 'https://client.example/hooks', eventTypes: ['call.status'] }

  test('is set, shown, changed and removed, and what it hides is a warning', async () => {
    const filter = { 'call.status': { state: [3] }, 'agent.status': { loggedOn: [true] } }
    const created = await call('POST', '/subscriptions', { ...settings, filter }, 'acme')
    const warnings = [{ code: 'filter-unused' }, { code: 'filter-hides-end' }]
    expect(created).toMatchObject({ status: 201, body: { filter, warnings } })
    const { id } = created.body as { id: string }
    const path = `/subscriptions/${id}`
    expect((await call('GET', path, undefined, 'acme')).body).toMatchObject({ filter, warnings })
    const changed = await call('PATCH', path, { filter: ENDS }, 'acme')
    expect(changed).toMatchObject({ status: 200, body: { filter: ENDS, warnings: [] } })
    expect(changed.headers.get('etag')).not.toBe(created.headers.get('etag'))
    expect((await call('PATCH', path, { enabled: false }, 'acme')).body).toMatchObject({ filter: ENDS })
    expect((await call('PATCH', path, { filter: null }, 'acme')).body).toMatchObject({ filter: null, warnings: [] })
  })

  test('is refused with the pointer and the known fields if it names an unknown field', async () => {
    const filter = { 'call.status': { stat: [3] } }
    expect(await call('POST', '/subscriptions', { ...settings, filter }, 'acme')).toMatchObject({
      status: 400,
      body: {
        code: 'invalid-filter',
        errors: [
          { pointer: '/filter/call.status/stat', detail: 'is not a field of call.status; did you mean "state"?' },
        ],
        knownFields: { 'call.status': expect.arrayContaining(['state', 'agentUri']) as string[] },
      },
    })
  })
})

describe('the preview', () => {
  const preview = (json: object, tenant: 'acme' | 'globex' | 'initech' = 'globex') =>
    call('POST', '/filters/preview', json, tenant)

  async function happen(tenant: string, states: readonly number[], dataJson?: string): Promise<void> {
    const events = states.map((state) =>
      loggedEvent({ tenant, eventId: newEventId(), dataJson: dataJson ?? JSON.stringify({ state }) }),
    )
    await createJournal(redis, { size: 5_000, retentionMs: 60_000, deliveryRetentionMs: 60_000 }).append(events)
  }

  test('judges the events of the journal, and says why the others do not pass', async () => {
    await happen('globex', [1, 3, 7, 2, 7])
    await happen('globex', [7], JSON.stringify({ state: 7, text: 'x'.repeat(20_000) }))
    await happen('acme', [7, 7, 7])
    const { status, body } = await preview({ filter: ENDS })
    expect(status).toBe(200)
    expect(body).toMatchObject({ looked: 5, matched: 2, since: expect.any(String), warnings: [] })
    const { examples } = body as { examples: { refusal: string | null }[] }
    expect(examples.map(({ refusal }) => refusal)).toEqual([
      null,
      null,
      ...[2, 3, 1].map((state) => `state was ${state}; the filter wants 7`),
    ])
  })

  test('reads no more than 2,000 events, and shows five of each kind', async () => {
    await happen(
      'initech',
      Array.from({ length: 2_010 }, (_, n) => (n % 2 === 0 ? 7 : 3)),
    )
    const { body } = await preview({ filter: ENDS }, 'initech')
    const { looked, matched, examples } = body as { looked: number; matched: number; examples: unknown[] }
    expect(looked).toBeLessThanOrEqual(2_000)
    expect([Math.abs(looked - 2 * matched) <= 1, examples.length]).toEqual([true, 10])
  })

  test('takes the event types of the subscription', async () => {
    expect((await preview({ filter: ENDS, eventTypes: ['agent.status'] })).body).toMatchObject({
      looked: 0,
      matched: 0,
      examples: [],
      warnings: [{ code: 'filter-unused' }],
    })
  })

  test('takes the event types of a subscription to all of them, as reading shows them', async () => {
    await happen('globex', [7])
    const some = (await preview({ filter: ENDS })).body as { looked: number }
    expect(some.looked).toBeGreaterThan(0)
    expect((await preview({ filter: ENDS, eventTypes: ['*'] })).body).toMatchObject({
      looked: some.looked,
      warnings: [],
    })
  })

  test.each<[string, object, string, string]>([
    ['without a filter', {}, 'invalid-request', '/filter'],
    ['with null', { filter: null }, 'invalid-request', '/filter'],
    [
      'with an invalid filter',
      { filter: { 'call.status': { state: ['7'] } } },
      'invalid-filter',
      '/filter/call.status/state/0',
    ],
    ['with an unknown event type', { filter: ENDS, eventTypes: ['x'] }, 'invalid-request', '/eventTypes/0'],
  ])('%s answers 400', async (_name, json, code, pointer) => {
    expect(await preview(json)).toMatchObject({ status: 400, body: { code, errors: [{ pointer }] } })
  })

  test('without a journal answers 409', async () => {
    const off = await startApiUnderTest({ ...surroundings.env, EVENT_JOURNAL_SIZE: '0' })
    const headers = surroundings.bearer('globex')
    const answer = await off.call('POST', `${WEBHOOKS}/filters/preview`, { headers, json: { filter: ENDS } })
    await off.close()
    expect(answer).toMatchObject({ status: 409, body: { code: 'journal-off' } })
  })
})

test('a backfill sends only what the filter passes', async () => {
  const tenant = 'acme'
  const before = loggedEvent({ tenant, subscriptionIds: [newSubscriptionId()], dataJson: '{"state":2}' })
  const after = loggedEvent({ tenant, subscriptionIds: [newSubscriptionId()], dataJson: '{"state":7}' })
  await createJournal(redis, { size: 5_000, retentionMs: 60_000, deliveryRetentionMs: 60_000 }).append([before, after])
  const json = { url: 'https://client.example/late', eventTypes: ['call.status'] }
  const from = new Date(Date.now() - 60_000).toISOString()
  const countOf = async (more: object) => {
    const { body } = await call('POST', '/subscriptions', { ...json, ...more }, tenant)
    const path = `/subscriptions/${(body as { id: string }).id}/backfill/preview`
    return ((await call('POST', path, { from }, tenant)).body as { count: number }).count
  }
  const all = await countOf({})
  expect(await countOf({ filter: { 'call.status': { state: [{ 'anything-but': 2 }] } } })).toBe(all - 1)
})
