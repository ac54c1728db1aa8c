import {
  EVENT_TYPES,
  parseSubscriptionId,
  SUBSCRIPTION_LEASE_MARGIN_MS,
  SUBSCRIPTION_LEASE_MS,
} from '@switchhook/contracts'
import { logFanOut, loggedEvent, type Surroundings } from '@switchhook/servicekit'
import {
  createDeliveryLogReader,
  createJournalReader,
  createPullerStore,
  createRejectionStore,
  openRedis,
  type Redis,
} from '@switchhook/store'
import { aSubscription, eventually, silentLog } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Subscription {
  readonly id: string
  readonly url: string
  readonly eventTypes: string[]
  readonly description: string | null
  readonly enabled: boolean
  readonly createdAt: string
}

let around: Surroundings<'acme' | 'globex' | 'initech'>
let api: ApiUnderTest
let redis: Redis
let acme: { authorization: string }
let globex: { authorization: string }

useApi(
  ['acme', 'globex', 'initech'],
  (world) =>
    ({
      around,
      api,
      redis,
      headers: { acme, globex },
    } = world),
)

const hook = (name = 'calls'): string => `https://client.example/${name}`

async function create(
  json: object = { url: hook(), eventTypes: ['call.status'] },
  headers = acme,
): Promise<Subscription> {
  const { status, body } = await api.call('POST', PATH, { headers, json })
  expect(status).toBe(201)
  const { secret, ...subscription } = body as Subscription & { readonly secret: string }
  expect(secret).toMatch(/^whsec_/)
  return subscription
}

describe('POST', () => {
  test('answers 201, the subscription and its location', async () => {
    const before = Date.now()
    const json = { url: hook(), eventTypes: ['call.status', 'agent.status'], description: 'CRM' }
    const { status, headers, body } = await api.call('POST', PATH, { headers: acme, json })
    expect(status).toBe(201)
    expect(body).toEqual({
      ...json,
      id: expect.stringMatching(GUID),
      mode: 'post',
      externalId: null,
      filter: null,
      warnings: [],
      deleteAfterUnusedSeconds: null,
      paused: false,
      pausedUntil: null,
      recoverRejected: false,
      expireAfterSeconds: null,
      maxInFlight: null,
      maxPerSecond: null,
      headers: null,
      enabled: true,
      createdAt: expect.any(String),
      signing: { state: 'signed', since: expect.any(String), previousValidUntil: null },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      health: {
        state: 'closed',
        consecutiveFailures: 0,
        openUntil: null,
        lastSuccessAt: null,
        lastFailureAt: null,
        lastFailureOutcome: null,
        lastFailureStatus: null,
        failingSince: null,
      },
      parked: { count: 0, limit: 100_000, withoutBody: 0, dropped: 0 },
      held: { count: 0, leased: 0, oldestAt: null, lastReceivedAt: null },
      receivers: [],
    })
    const { secret: _, ...subscription } = body as Subscription & { readonly secret: string }
    const { id, createdAt } = subscription
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before)
    const location = headers.get('location') ?? ''
    expect(new URL(location, `${api.url}${PATH}`).pathname).toBe(`${PATH}/${id}`)
    expect((await api.call('GET', location, { headers: acme })).body).toEqual(subscription)
  })

  test.each([false, null])(
    'recoverRejected can be set and removed with %j; a change forgets the rejections',
    async (off) => {
      const json = { url: hook(), eventTypes: ['call.status'], recoverRejected: true }
      const { id } = await create(json)
      const redis = await openRedis({ url: around.env['REDIS_URL'] ?? '', log: silentLog, name: 'test' })
      const rejections = createRejectionStore(redis)
      const endpoint = { tenant: 'acme', subscriptionId: parseSubscriptionId(id) }
      const change = (body: object) => api.call('PATCH', `${PATH}/${id}`, { headers: acme, json: body })
      await rejections.record(endpoint, Date.now())
      expect(await change({ recoverRejected: true, description: 'CRM' })).toMatchObject({
        body: { recoverRejected: true },
      })
      expect(await rejections.find(endpoint)).toBeDefined()
      expect((await change({ recoverRejected: off })).body).toMatchObject({ recoverRejected: false })
      expect(await rejections.find(endpoint)).toBeUndefined()
      await rejections.record(endpoint, Date.now())
      expect((await change({ recoverRejected: true })).body).toMatchObject({ recoverRejected: true })
      expect(await change({ mode: 'pull' })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/mode' }] } })
      expect(await change({ mode: 'post' })).toMatchObject({ status: 200 })
      expect(await rejections.find(endpoint)).toBeUndefined()
      await redis.close()
    },
  )

  test('an external id is unique in the tenant and finds the subscription; null removes it', async () => {
    const json = { url: hook(), eventTypes: ['call.status'], externalId: 'crm/1' }
    const first = await create(json)
    const { externalId: _, ...unnamed } = json
    const second = await create(unnamed)
    const taken = {
      status: 409,
      body: { code: 'external-id-taken', detail: expect.stringContaining(first.id) as string },
    }
    const change = (of: Subscription, body: object) =>
      api.call('PATCH', `${PATH}/${of.id}`, { headers: acme, json: body })
    const find = async () => (await api.call('GET', `${PATH}?externalId=crm%2F1`, { headers: acme })).body
    expect(await api.call('POST', PATH, { headers: acme, json })).toMatchObject(taken)
    expect(await change(second, { externalId: 'crm/1' })).toMatchObject(taken)
    expect(await find()).toEqual([first])
    await create(json, globex)
    expect((await change(first, { externalId: null })).body).toMatchObject({ externalId: null })
    expect(await find()).toEqual([])
    expect((await change(second, { externalId: 'crm/1' })).body).toMatchObject({ id: second.id, externalId: 'crm/1' })
  })

  test.each(['', 'two words', 'é', 'x'.repeat(256), 7])('an external id of %j answers 400', async (externalId) => {
    const json = { url: hook(), eventTypes: ['call.status'], externalId }
    expect(await api.call('POST', PATH, { headers: acme, json })).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', errors: [{ pointer: '/externalId' }] },
    })
  })

  test('without a description it is null', async () => {
    expect((await create()).description).toBeNull()
  })

  test('with enabled false the subscription is created disabled, and stays so until it is enabled', async () => {
    const created = await create({ url: hook(), eventTypes: ['call.status'], enabled: false })
    expect(created.enabled).toBe(false)
    const read = () => api.call('GET', `${PATH}/${created.id}`, { headers: acme })
    expect((await read()).body).toMatchObject({ enabled: false })
    await api.call('PATCH', `${PATH}/${created.id}`, { headers: acme, json: { enabled: true } })
    expect((await read()).body).toMatchObject({ enabled: true })
    expect(await create({ url: hook(), eventTypes: ['call.status'], enabled: true })).toMatchObject({ enabled: true })
  })

  test('above the limit of the tenant answers 409, and the same key succeeds once there is room', async () => {
    const limited = await startApiUnderTest({ ...around.env, SUBSCRIPTION_LIMIT_PER_TENANT: '1' })
    const json = { url: hook(), eventTypes: ['call.status'] }
    const headers = around.bearer('initech')
    const first = await limited.call('POST', PATH, { headers, json })
    expect(first.status).toBe(201)
    const keyed = { headers: { ...headers, 'idempotency-key': 'second' }, json }
    const refused = await limited.call('POST', PATH, keyed)
    expect(refused).toMatchObject({ status: 409, body: { code: 'too-many-subscriptions' } })
    const { id } = first.body as Subscription
    expect((await limited.call('DELETE', `${PATH}/${id}`, { headers })).status).toBe(204)
    const accepted = await limited.call('POST', PATH, keyed)
    expect([accepted.status, accepted.headers.get('idempotent-replayed')]).toEqual([201, null])
    await limited.close()
  })

  test('duplicate event types are removed', async () => {
    expect((await create({ url: hook(), eventTypes: ['call.status', 'call.status'] })).eventTypes).toEqual([
      'call.status',
    ])
  })

  test.each(['POST', 'PATCH'])(
    'a %s with a misspelt field answers 400, names it and changes nothing',
    async (method) => {
      const created = await create()
      const json = { url: hook('other'), eventTypes: ['agent.status'], enable: false }
      const path = method === 'POST' ? PATH : `${PATH}/${created.id}`
      const before = (await api.call('GET', PATH, { headers: acme })).body
      expect(await api.call(method, path, { headers: acme, json })).toMatchObject({
        status: 400,
        body: {
          code: 'invalid-request',
          detail: expect.stringContaining('url, eventTypes, description, externalId, '),
          errors: [{ pointer: '/enable', detail: 'is not a known field; did you mean "enabled"?' }],
        },
      })
      expect((await api.call('GET', PATH, { headers: acme })).body).toEqual(before)
    },
  )

  test('a subscription that was read can be sent back, to change it or to make another', async () => {
    const { id } = await create({ url: hook(), eventTypes: ['call.status'], description: 'CRM', enabled: false })
    const read = (await api.call('GET', `${PATH}/${id}`, { headers: acme })).body as Subscription
    const changed = await api.call('PATCH', `${PATH}/${id}`, { headers: acme, json: read })
    expect([changed.status, changed.body]).toEqual([200, read])
    const other = await create(read)
    expect(other.id).not.toBe(id)
    const { url, eventTypes, description, enabled } = read
    expect(other).toMatchObject({ url, eventTypes, description, enabled })
  })

  test.each<[string, object, string, string]>([
    ['without a url', { eventTypes: ['call.status'] }, 'invalid-webhook-url', '/url'],
    [
      'with an unknown event type',
      { url: hook(), eventTypes: ['call.status', 'fax.status'] },
      'unknown-event-type',
      '/eventTypes/1',
    ],
    ['without event types', { url: hook() }, 'unknown-event-type', '/eventTypes'],
  ])('%s answers 400, names the field and lists the known event types', async (_name, json, code, pointer) => {
    const before = (await api.call('GET', PATH, { headers: acme })).body
    const { status, body } = await api.call('POST', PATH, { headers: acme, json })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code, knownEventTypes: EVENT_TYPES, errors: [{ pointer }] })
    expect((await api.call('GET', PATH, { headers: acme })).body).toEqual(before)
  })

  test('a huge number of faults gets a short answer', async () => {
    const eventTypes = Array.from({ length: 15_000 }, () => 'a')
    const before = process.cpuUsage()
    const { status, body } = await api.call('POST', PATH, { headers: acme, json: { url: hook(), eventTypes } })
    expect(status).toBe(400)
    expect((body as { errors: unknown[] }).errors.length).toBeLessThanOrEqual(50)
    const { user } = process.cpuUsage(before)
    expect(user / 1_000).toBeLessThan(500)
  })
})

describe('GET', () => {
  test('lists the tenant’s subscriptions only, the oldest first', async () => {
    await around.redis.flush()
    const mine = [
      await create({ url: hook('1'), eventTypes: ['call.status'] }),
      await create({ url: hook('2'), eventTypes: ['agent.status'] }),
    ]
    const theirs = await create({ url: hook('3'), eventTypes: ['call.status'] }, globex)
    expect((await api.call('GET', PATH, { headers: acme })).body).toEqual(mine)
    expect((await api.call('GET', PATH, { headers: globex })).body).toEqual([theirs])
  })

  test('has the cursor of the next page in a header', async () => {
    await around.redis.flush()
    const mine = []
    for (const name of ['1', '2', '3']) mine.push(await create({ url: hook(name), eventTypes: ['call.status'] }))
    const first = await api.call('GET', `${PATH}?limit=2`, { headers: acme })
    expect(first.body).toEqual(mine.slice(0, 2))
    const next = first.headers.get('next-cursor')
    const last = await api.call('GET', `${PATH}?limit=2&cursor=${next}`, { headers: acme })
    expect([last.status, last.body]).toEqual([200, mine.slice(2)])
    expect(last.headers.has('next-cursor')).toBe(false)
  })

  test.each(['limit=0', 'limit=1001', 'cursor=x'])('of a page with %s answers 400', async (search) => {
    const { status, body } = await api.call('GET', `${PATH}?${search}`, { headers: acme })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid-request', errors: [{ pointer: expect.any(String) }] })
  })

  test('without subscriptions answers an empty array', async () => {
    await around.redis.flush()
    expect(await api.call('GET', PATH, { headers: acme })).toMatchObject({ status: 200, body: [] })
  })

  test('reads one by its id, in upper or lower case', async () => {
    const created = await create()
    expect((await api.call('GET', `${PATH}/${created.id}`, { headers: acme })).body).toEqual(created)
    expect((await api.call('GET', `${PATH}/${created.id.toUpperCase()}`, { headers: acme })).body).toEqual(created)
  })
})

describe('DELETE', () => {
  test('removes the list of deliveries, and who received them; those of another subscription stay', async () => {
    const journal = createJournalReader(redis, { size: 10, retentionMs: 60_000, deliveryRetentionMs: 60_000 })
    const [log, pullers] = [createDeliveryLogReader(redis, journal), createPullerStore(redis)]
    const pull = { mode: 'pull', eventTypes: ['call.status'] }
    const created = await Promise.all(
      [pull, pull].map(async (json) => (await api.call('POST', PATH, { headers: acme, json })).body),
    )
    const ids = created.map((body) => parseSubscriptionId((body as Subscription).id))
    await logFanOut(redis, loggedEvent({ subscriptionIds: ids }))
    for (const id of ids) await pullers.note(id, 'crm', Date.now())
    const left = () =>
      Promise.all(
        ids.map(async (id) => {
          const { items } = await log.page(aSubscription({ id }), { limit: 10 })
          return [items.length, (await pullers.find(id, Date.now())).pullers.length]
        }),
      )
    expect(await left()).toEqual([
      [1, 1],
      [1, 1],
    ])
    expect((await api.call('DELETE', `${PATH}/${ids[0]}`, { headers: acme })).status).toBe(204)
    expect(await left()).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  test('answers 204 without a body; afterwards the subscription does not exist', async () => {
    const { id } = await create()
    expect(await api.call('DELETE', `${PATH}/${id}`, { headers: acme })).toMatchObject({ status: 204, body: undefined })
    expect((await api.call('GET', `${PATH}/${id}`, { headers: acme })).status).toBe(404)
    expect((await api.call('DELETE', `${PATH}/${id}`, { headers: acme })).status).toBe(404)
    const listed = (await api.call('GET', PATH, { headers: acme })).body as Subscription[]
    expect(listed.map((one) => one.id)).not.toContain(id)
  })
})

describe('PATCH', () => {
  test('a pause until a past time pauses nothing, and the answer says so; what was read can be sent back', async () => {
    const pausedUntil = '2020-01-01T00:00:00Z'
    const warnings = [{ code: 'pause-over', detail: expect.stringMatching(/^pausedUntil is in the past/) }]
    expect(await create({ url: hook(), eventTypes: ['call.status'], pausedUntil })).toMatchObject({ warnings })
    const { id } = await create()
    const change = (json: object) => api.call('PATCH', `${PATH}/${id}`, { headers: acme, json })
    expect(await change({ pausedUntil })).toMatchObject({ status: 200, body: { pausedUntil, warnings } })
    const read = await api.call('GET', `${PATH}/${id}`, { headers: acme })
    expect(read.body).toMatchObject({ pausedUntil, warnings: [] })
    expect(await change({ pausedUntil, paused: false })).toMatchObject({ status: 200, body: { warnings: [] } })
    const later = new Date(Date.now() + 3_600_000).toISOString()
    expect(await change({ pausedUntil: later })).toMatchObject({ status: 200, body: { warnings: [] } })
  })

  test('changes the fields it names and keeps the rest', async () => {
    const created = await create({ url: hook(), eventTypes: ['call.status'], description: 'CRM' })
    const path = `${PATH}/${created.id}`
    const patch = async (json: object) => (await api.call('PATCH', path, { headers: acme, json })).body
    expect(await patch({ enabled: false })).toEqual({ ...created, enabled: false })
    expect(await patch({ description: null, url: hook('new') })).toEqual({
      ...created,
      enabled: false,
      description: null,
      url: hook('new'),
    })
    expect(
      await patch({ eventTypes: ['agent.status', 'agent.status'], enabled: true, id: 'x', createdAt: 'x' }),
    ).toEqual({
      ...created,
      description: null,
      url: hook('new'),
      eventTypes: ['agent.status'],
    })
    const read = await api.call('GET', path, { headers: acme })
    expect(await patch({})).toEqual(read.body)
    expect(await patch({ eventTypes: null })).toEqual(read.body)
  })

  test('applies the rules of a create; an invalid change changes nothing', async () => {
    const created = await create()
    const path = `${PATH}/${created.id}`
    const json = { url: 'hello', eventTypes: ['fax'], enabled: 'no', description: 1 }
    const { status, body } = await api.call('PATCH', path, { headers: acme, json })
    expect(status).toBe(400)
    expect((body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/description',
      '/enabled',
      '/eventTypes/0',
      '/url',
    ])
    expect((await api.call('GET', path, { headers: acme })).body).toEqual(created)
  })
})

describe('If-Match', () => {
  const tagOf = ({ headers }: { readonly headers: Headers }): string => headers.get('etag') ?? ''
  const ask = (method: string, path: string, ifMatch: string, json?: object) =>
    api.call(method, path, { headers: { ...acme, 'if-match': ifMatch }, ...(json && { json }) })
  const made = async (): Promise<readonly [path: string, tag: string]> => {
    const json = { url: hook(), eventTypes: ['call.status'] }
    const answer = await api.call('POST', PATH, { headers: acme, json })
    return [answer.headers.get('location') ?? '', tagOf(answer)]
  }
  const stale = { status: 412, body: { code: 'precondition-failed' } }

  test('the ETag of a create, a read and a change is the same until something changes', async () => {
    const [path, tag] = await made()
    expect(tag).toMatch(/^"[\w-]+"$/)
    expect(tagOf(await api.call('GET', path, { headers: acme }))).toBe(tag)
    expect(tagOf(await ask('PATCH', path, tag, { description: null }))).toBe(tag)
    const changed = await ask('PATCH', path, tag, { description: 'CRM' })
    expect(changed.status).toBe(200)
    expect(tagOf(changed)).not.toBe(tag)
    await api.call('POST', `${path}/rotate-secret`, { headers: acme })
    const rotated = tagOf(await api.call('GET', path, { headers: acme }))
    expect([tag, tagOf(changed)]).not.toContain(rotated)
  })

  test('with an old tag a PATCH and a DELETE answer 412 and change nothing', async () => {
    const [path, old] = await made()
    const { body } = await api.call('PATCH', path, { headers: acme, json: { description: 'CRM' } })
    for (const tag of [old, `W/${old}`, '"other"']) {
      expect(await ask('PATCH', path, tag, { description: 'ERP' })).toMatchObject(stale)
      expect(await ask('DELETE', path, tag)).toMatchObject(stale)
    }
    const read = await api.call('GET', path, { headers: acme })
    expect(read.body).toEqual(body)
    expect((await ask('PATCH', path, `${old}, ${tagOf(read)}`, { description: 'ERP' })).status).toBe(200)
    expect((await ask('DELETE', path, '*')).status).toBe(204)
    expect((await ask('DELETE', path, '*')).status).toBe(404)
  })

  test('with an old tag a rotation answers 412 and keeps the secret', async () => {
    const [path, tag] = await made()
    const rotate = (ifMatch: string) => ask('POST', `${path}/rotate-secret`, ifMatch)
    expect(await rotate('"other"')).toMatchObject(stale)
    expect(tagOf(await api.call('GET', path, { headers: acme }))).toBe(tag)
    const rotated = await rotate(tag)
    expect(rotated.status).toBe(200)
    expect(tagOf(await api.call('GET', path, { headers: acme }))).toBe(tagOf(rotated))
    expect(await rotate(tag)).toMatchObject(stale)
  })

  test('exactly one of many concurrent changes of the same state succeeds', async () => {
    const [path, tag] = await made()
    const descriptions = Array.from({ length: 10 }, (_, i) => `change ${i}`)
    const answers = await Promise.all(descriptions.map((description) => ask('PATCH', path, tag, { description })))
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(9)
    const won = answers.find(({ status }) => status === 200)
    expect((await api.call('GET', path, { headers: acme })).body).toEqual(won?.body)
  })

  test('that is malformed answers 400', async () => {
    const [path, tag] = await made()
    expect(await ask('DELETE', path, tag.slice(1, -1))).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', detail: expect.stringContaining('If-Match') },
    })
  })
})

describe('an answer that ends first attempts', () => {
  const LEASES_END_MS = SUBSCRIPTION_LEASE_MS + SUBSCRIPTION_LEASE_MARGIN_MS
  const NEW = { url: hook(), eventTypes: ['call.status', 'agent.status'] }

  type Requests = readonly [method: string, json?: object][]

  /** The status of the last of the requests, and how long its answer took. */
  async function lastAnswer(...requests: Requests): Promise<{ status: number; tookMs: number }> {
    const { id } = await create(NEW)
    let last = { status: 0, tookMs: 0 }
    for (const [method, json] of requests) {
      const startedAtMs = performance.now()
      const { status } = await api.call(method, `${PATH}/${id}`, {
        headers: acme,
        ...(json !== undefined && { json }),
      })
      last = { status, tookMs: performance.now() - startedAtMs }
    }
    return last
  }

  test.each<[string, number, Requests]>([
    ['DELETE', 204, [['DELETE']]],
    ['DELETE of a disabled subscription', 204, [['PATCH', { enabled: false }], ['DELETE']]],
    ['DELETE once more', 404, [['DELETE'], ['DELETE']]],
    ['PATCH that disables', 200, [['PATCH', { enabled: false }]]],
    [
      'PATCH that disables once more',
      200,
      [
        ['PATCH', { enabled: false }],
        ['PATCH', { enabled: false }],
      ],
    ],
    ['PATCH that removes an event type', 200, [['PATCH', { eventTypes: ['call.status'] }]]],
    ['PATCH that changes the url', 200, [['PATCH', { url: hook('elsewhere') }]]],
    ['PATCH that disables a deleted subscription', 404, [['DELETE'], ['PATCH', { enabled: false }]]],
  ])('to a %s is %i, after every lease on the previous state has ended', async (_name, expected, requests) => {
    const { status, tookMs } = await lastAnswer(...requests)
    expect(status).toBe(expected)
    expect(tookMs).toBeGreaterThanOrEqual(LEASES_END_MS)
  })

  test('to a DELETE comes within half a second', async () => {
    await eventually(async () => expect((await lastAnswer(['DELETE'])).tookMs).toBeLessThan(500))
  })

  test.each<[string, Requests]>([
    ['PATCH of the description', [['PATCH', { description: 'CRM' }]]],
    ['PATCH that enables', [['PATCH', { enabled: true }]]],
    ['PATCH that adds an event type', [['PATCH', { eventTypes: [...NEW.eventTypes, 'webhook.delivery.parked'] }]]],
    ['GET', [['GET']]],
  ])('does not wait for a %s, which ends no first attempts', async (_name, requests) => {
    await eventually(async () => {
      const { status, tookMs } = await lastAnswer(...requests)
      expect(status).toBe(200)
      expect(tookMs).toBeLessThan(LEASES_END_MS)
    })
  })
})

describe.each(['GET', 'DELETE', 'PATCH'])('%s', (method) => {
  test.each([
    ['an unknown id', async () => 'b6e0b5a2-2d3c-4d9d-8d34-0f0f7d0f5a11'],
    ['a malformed id', async () => 'hello'],
    ['an id with escapes', async () => '%20%00%2F'],
    ['another tenant’s subscription', async () => (await create(undefined, globex)).id],
  ])('%s answers the same 404', async (_name, idOf) => {
    const id = await idOf()
    const request = { headers: acme, ...(method === 'PATCH' && { json: { enabled: false } }) }
    const { status, body } = await api.call(method, `${PATH}/${id}`, request)
    expect(status).toBe(404)
    expect(body).toMatchObject({ code: 'subscription-not-found', title: 'No such subscription' })
  })

  test('another tenant’s subscription does not change', async () => {
    const theirs = await create(undefined, globex)
    const request = { headers: acme, ...(method === 'PATCH' && { json: { enabled: false } }) }
    await api.call(method, `${PATH}/${theirs.id}`, request)
    expect((await api.call('GET', `${PATH}/${theirs.id}`, { headers: globex })).body).toEqual(theirs)
  })
})
