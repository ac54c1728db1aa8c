import { connect } from 'node:net'
import { deliveryIdOf, newEventId, newSubscriptionId, subjectOf } from '@switchhook/contracts'
import { type EventStream, loggedEvent, openEventStream, type Surroundings } from '@switchhook/servicekit'
import {
  createBreakerReader,
  createJournal,
  createLiveAttemptStore,
  type LoggedEvent,
  type Redis,
} from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const STREAM = '/api/v1/webhooks/stream'
const LISTENERS = 200

let surroundings: Surroundings<'acme' | 'globex'>
let api: ApiUnderTest
let redis: Redis
const opened: EventStream[] = []

useApi(['acme', 'globex'], (world) => ({ around: surroundings, api, redis } = world), {
  EVENT_JOURNAL_SIZE: '500',
  STREAM_LISTENERS_PER_TENANT: String(LISTENERS),
  STREAM_LISTENERS_PER_CLIENT: String(LISTENERS),
})

afterEach(() => {
  for (const stream of opened.splice(0)) stream.close()
})

async function listen(
  query = '',
  {
    tenant = 'acme',
    lastId,
    claims,
  }: { tenant?: 'acme' | 'globex'; lastId?: string | undefined; claims?: object } = {},
): Promise<EventStream> {
  const headers = {
    ...surroundings.bearer(tenant, claims as Record<string, unknown>),
    ...(lastId !== undefined && { 'last-event-id': lastId }),
  }
  const stream = await openEventStream(`${api.url}${STREAM}${query}`, headers)
  opened.push(stream)
  return stream
}

async function happen(count = 1, change: Partial<LoggedEvent> = {}): Promise<string[]> {
  const { dataJson = '{"callId":"c-1"}' } = change
  const about = { dataJson, subject: subjectOf(JSON.parse(dataJson) as Record<string, unknown>) }
  const events = Array.from({ length: count }, () => loggedEvent({ ...change, ...about }))
  await createJournal(redis, { size: 500, retentionMs: 60_000, deliveryRetentionMs: 60_000 }).append(events)
  return events.map(({ eventId }) => eventId)
}

const seen = ({ events }: EventStream): unknown[] =>
  events.filter(({ event }) => event === 'event').map(({ data }) => data['eventId'])

test('a listener gets the events of its tenant with their data, and no others', async () => {
  const [acme, globex] = [await listen(), await listen('', { tenant: 'globex' })]
  expect([acme.status, globex.status]).toEqual([200, 200])
  const ofGlobex = await happen(1, { tenant: 'globex' })
  const ofAcme = await happen(2)
  await eventually(() => expect(seen(acme)).toEqual(ofAcme))
  await eventually(() => expect(seen(globex)).toEqual(ofGlobex))
  expect(acme.events[0]).toMatchObject({ id: acme.events[0]?.id, data: { data: { callId: 'c-1' }, subscriptions: [] } })
})

test('a listener that comes back with its last id gets what it missed, once', async () => {
  const first = await listen('?callId=c-resume')
  const before = await happen(3, { dataJson: '{"callId":"c-resume"}' })
  await eventually(() => expect(seen(first)).toEqual(before))
  first.close()
  const missed = await happen(120, { dataJson: '{"callId":"c-resume"}' })
  await happen(5)
  const second = await listen('?callId=c-resume', { lastId: first.lastId() })
  const after = await happen(2, { dataJson: '{"callId":"c-resume"}' })
  await eventually(() => expect(seen(second)).toEqual([...missed, ...after]))
  expect(second.events.filter(({ event }) => event === 'gap')).toEqual([])
})

test('a listener begins with the events of a time, without a gap', async () => {
  const about = { dataJson: '{"callId":"c-since"}' }
  const live = await listen('?callId=c-since')
  const before = Date.now()
  await happen(1, about)
  // The journal's places are milliseconds.
  await eventually(() => expect(Date.now()).toBeGreaterThan(before + 5))
  const since = new Date()
  const after = await happen(2, about)
  const stream = await listen(`?callId=c-since&since=${since.toISOString()}`)
  await eventually(() => expect(seen(stream)).toEqual(after))
  const all = await listen('?callId=c-since&since=0001-01-01T00:00:00Z')
  await eventually(() => expect([seen(all).length, seen(live).length]).toEqual([3, 3]))
  expect([...stream.events, ...all.events].filter(({ event }) => event === 'gap')).toEqual([])

  // EventSource reconnects to the same address, with its last place.
  const resumed = await listen('?callId=c-since&since=2026-01-01T00:00:00Z', { lastId: all.lastId() })
  const later = await happen(1, about)
  await eventually(() => expect(seen(resumed)).toEqual(later))
})

test('a listener that comes back too late gets a gap', async () => {
  const first = await listen()
  await happen()
  await eventually(() => expect(seen(first)).toHaveLength(1))
  first.close()
  // More than the journal may exceed its size by.
  const kept = (await happen(520)).slice(20)
  const second = await listen('', { lastId: first.lastId() })
  // That of a listener of an empty journal.
  const beginning = await listen('', { lastId: '0-0' })
  for (const [after, late] of [
    [first.lastId(), second],
    ['0-0', beginning],
  ] as const) {
    await eventually(() => expect(seen(late)).toEqual(kept))
    expect(late.events[0]).toMatchObject({ event: 'gap', data: { after, resumedAt: late.events[1]?.id } })
  }
  // A stream that asks for more than the journal has gets no place before all of it.
  const since = await listen('?callId=none&since=0001-01-01T00:00:00Z')
  await eventually(() => expect(since.lastId()).toBeDefined())
  expect([since.lastId(), since.events]).toEqual([second.lastId(), []])
})

test('a listener that has seen no event yet comes back and gets what it missed', async () => {
  const first = await listen('', { tenant: 'globex' })
  await eventually(() => expect(first.lastId()).toBeDefined())
  first.close()
  const missed = await happen(2, { tenant: 'globex' })
  const second = await listen('', { tenant: 'globex', lastId: first.lastId() })
  await eventually(() => expect(seen(second)).toEqual(missed))
  expect(second.events.filter(({ event }) => event === 'gap')).toEqual([])
})

test('the stream shows attempts, and workers send them only while a client reads it', async () => {
  const store = createLiveAttemptStore(redis)
  const isListened = async (tenant: string): Promise<boolean> =>
    (await createBreakerReader(redis).readEndpoint({ tenant, subscriptionId: newSubscriptionId() })).isListened
  const stream = await listen('?eventType=call.status')
  expect([await isListened('acme'), await isListened('nobody')]).toEqual([true, false])
  const [eventId, subscriptionId] = [newEventId(), newSubscriptionId()]
  const attempt = {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    attempt: 1,
    at: '2026-11-20T17:06:01.173Z',
    outcome: 'answered' as const,
    status: 503,
    durationMs: 42,
    state: 'waiting' as const,
  }
  await store.publish('acme', [{ ...attempt, callId: 'c-1', agentUri: null }], 0)
  await eventually(() => expect(stream.events).toEqual([{ event: 'attempt', data: attempt }]))
})

test('the stream ends when the access token expires', async () => {
  const stream = await listen('', { claims: { exp: Math.floor(Date.now() / 1_000) + 2 } })
  expect(stream.status).toBe(200)
  await eventually(() => expect(stream.isClosed()).toBe(true))
  expect(stream.comments).toContain('the access token has expired')
})

test.each<[string, number, string, Record<string, string>]>([
  ['without a token', 401, '', { authorization: 'Bearer x' }],
  ['with an unknown Last-Event-ID', 400, '', { 'last-event-id': 'yesterday' }],
  ['with an unknown event type', 400, '?eventType=call.dreamt', {}],
  ['with a malformed subscription', 400, '?subscriptionId=1', {}],
])('a request %s answers %i', async (_case, status, query, headers) => {
  const answer = await api.call('GET', `${STREAM}${query}`, { headers: { ...surroundings.bearer('acme'), ...headers } })
  expect(answer.status).toBe(status)
})

test('HEAD answers without a stream', async () => {
  const response = await fetch(`${api.url}${STREAM}`, { method: 'HEAD', headers: surroundings.bearer('acme') })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
})

test('200 listeners get every event although one of them never reads, and one more is refused', async () => {
  const deaf = connect({ port: api.port, host: '127.0.0.1' })
  const { authorization } = surroundings.bearer('acme')
  deaf.write(`GET ${STREAM} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`)
  deaf.pause()
  const streams = await Promise.all(Array.from({ length: LISTENERS - 1 }, () => listen()))
  await eventually(async () => {
    const { status, body } = await api.call('GET', STREAM, { headers: { authorization } })
    expect({ status, body }).toMatchObject({ status: 429, body: { code: 'too-many-listeners' } })
  })
  expect(await api.metrics.text()).toMatch(new RegExp(`^switchhook_live_streams\\{[^}]*\\} ${LISTENERS}$`, 'm'))
  const happened: string[] = []
  for (let i = 0; i < 5; i++) happened.push(...(await happen(20)))
  await eventually(
    () => {
      for (const stream of streams) expect(seen(stream)).toEqual(happened)
    },
    { timeoutMs: 20_000 },
  )
  deaf.destroy()
  for (const stream of streams) stream.close()
  const again = await eventually(async () => {
    const stream = await listen()
    expect(stream.status).toBe(200)
    return stream
  })
  const [next] = await happen()
  await eventually(() => expect(seen(again)).toEqual([next]))
})

test('one client cannot take all streams of its tenant', async () => {
  const limited = await startApiUnderTest({ ...surroundings.env, STREAM_LISTENERS_PER_CLIENT: '2' })
  const open = async (claims: Record<string, unknown>) => {
    const stream = await openEventStream(`${limited.url}${STREAM}`, surroundings.bearer('acme', claims))
    opened.push(stream)
    return stream.status
  }
  expect([await open({ azp: 'crm' }), await open({ azp: 'crm' }), await open({ azp: 'erp' })]).toEqual([200, 200, 200])
  const refused = await limited.call('GET', STREAM, { headers: surroundings.bearer('acme', { azp: 'crm' }) })
  expect(refused).toMatchObject({ status: 429, body: { code: 'too-many-client-listeners' } })
  expect(refused.headers.get('retry-after')).toBe('10')
  for (const stream of opened.splice(0)) stream.close()
  await eventually(async () => expect(await open({ azp: 'crm' })).toBe(200))
  await limited.close()
})

test('without a journal there is no stream', async () => {
  const other = await startApiUnderTest({ ...surroundings.env, EVENT_JOURNAL_SIZE: '0' })
  const answer = await other.call('GET', STREAM, { headers: surroundings.bearer('acme') })
  expect(answer).toMatchObject({ status: 409, body: { code: 'journal-off' } })
  await other.close()
})

test('at shutdown the streams end, so that clients connect to another process', async () => {
  const other = await startApiUnderTest(surroundings.env)
  const stream = await openEventStream(`${other.url}${STREAM}`, surroundings.bearer('acme'))
  await other.close()
  await eventually(() => expect(stream.isClosed()).toBe(true))
  expect(stream.comments).toContain('the server is shutting down')
})
