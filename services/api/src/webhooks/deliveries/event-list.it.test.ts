import { deliveryIdOf, newEventId, newSubscriptionId, type SubscriptionId, subjectOf } from '@switchhook/contracts'
import {
  attemptOf,
  logFanOut,
  loggedEvent,
  newDelivery,
  openEventStream,
  type Surroundings,
} from '@switchhook/servicekit'
import { createDeliveryStore, type LoggedEvent, type Redis } from '@switchhook/store'
import { eventually, UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const EVENTS = '/api/v1/webhooks/events'

let surroundings: Surroundings<'acme' | 'globex'>
let api: ApiUnderTest
let redis: Redis

useApi(['acme', 'globex'], (world) => ({ around: surroundings, api, redis } = world))

async function fanOut(
  data: Readonly<Record<string, unknown>>,
  subscriptionIds: readonly SubscriptionId[] = [],
): Promise<LoggedEvent> {
  const event = loggedEvent({ subject: subjectOf(data), subscriptionIds })
  await logFanOut(redis, event)
  return event
}

const listed = (query = '', tenant: 'acme' | 'globex' = 'acme') =>
  api.call('GET', `${EVENTS}${query}`, { headers: surroundings.bearer(tenant) })

test('the events of a call are found by its id, in upper or lower case, and can be explained', async () => {
  const callId = newEventId()
  const agentUri = 'sip:alice+1@acme.example'
  const { eventId } = await fanOut({ callId, agentUri })
  await fanOut({ callId: newEventId(), agentUri, correlationId: 'crm-1' })
  const found = await listed(`?callId=${callId.toUpperCase()}`)
  expect(found).toMatchObject({ status: 200, body: { items: [{ eventId, callId, agentUri }], nextCursor: null } })
  const ofAgent = await listed(`?agentUri=${encodeURIComponent(agentUri)}`)
  expect(ofAgent).toMatchObject({ body: { items: [{}, { eventId }] } })
  expect(await listed('?correlationId=crm-1&eventType=call.status')).toMatchObject({ body: { items: [{}] } })
  const { items } = (await listed(`?callId=${callId}&eventType=agent.status`)).body as { items: unknown[] }
  expect(items).toEqual([])
  expect(await api.call('GET', `${EVENTS}/${eventId}`, { headers: surroundings.bearer('acme') })).toMatchObject({
    status: 200,
    body: { eventId, subscriptions: [] },
  })
})

test.each(['sip:alice@ACME.example', 'SIP:alice@acme.example', 'sip:%61lice@acme.example'])(
  'the events, deliveries and live events of an agent are found by the spelling %s',
  async (spelling) => {
    const agentUri = 'sip:alice@acme.example'
    const query = `agentUri=${encodeURIComponent(spelling)}`
    const stream = await openEventStream(`${api.url}/api/v1/webhooks/stream?${query}`, surroundings.bearer('acme'))
    const subscriptionId = newSubscriptionId()
    const event = await fanOut({ callId: newEventId(), agentUri }, [subscriptionId])
    const { eventId } = event
    const ids = { eventId, deliveryId: deliveryIdOf(eventId, subscriptionId), firstDueAt: event.fannedOutAt }
    const body = Buffer.from(JSON.stringify({ data: { agentUri } }))
    const delivery = { ...newDelivery(subscriptionId, ids), body }
    const store = createDeliveryStore(
      redis,
      { finishedRetentionMs: 3_600_000, parkedRetentionMs: 3_600_000, scheduleOf: unscheduled },
      UNLIMITED,
      unverified,
    )
    await store.park(delivery, attemptOf(delivery), 'rejected')
    expect(await listed(`?${query}&limit=1`)).toMatchObject({ body: { items: [{ eventId, agentUri }] } })
    for (const state of ['any', 'parked']) {
      const deliveries = `/api/v1/webhooks/deliveries?${query}&limit=1&state=${state}`
      expect(await api.call('GET', deliveries, { headers: surroundings.bearer('acme') })).toMatchObject({
        body: { items: [{ eventId }] },
      })
    }
    await eventually(() => expect(stream.events.map(({ data }) => data['eventId'])).toContain(eventId))
    stream.close()
  },
)

test('the events of a call are found by the phone number of the other party, however it is written', async () => {
  const { eventId } = await fanOut({ remoteParty: { number: '+15550147' } })
  await fanOut({ remoteParty: { number: '+15550148' } })
  await fanOut({ correlationId: '5550147' })
  for (const number of ['+15550147', '0015550147', '(555) 01-47', '0147'].map(encodeURIComponent)) {
    expect(await listed(`?number=${number}`)).toMatchObject({
      status: 200,
      body: { items: [{ eventId, number: '+15550147' }], nextCursor: null },
    })
  }
})

test("another tenant's events are not listed", async () => {
  await fanOut({ callId: 'shared' })
  expect((await listed('?callId=shared', 'globex')).body).toEqual({ items: [], nextCursor: null })
})

test('events are listed in pages', async () => {
  const events = [await fanOut({ callId: 'paged' }), await fanOut({ callId: 'paged' })]
  const first = (await listed('?callId=paged&limit=1')).body as { items: unknown[]; nextCursor: string }
  const second = await listed(`?callId=paged&limit=1&cursor=${first.nextCursor}`)
  expect([first, second.body]).toMatchObject([
    { items: [{ eventId: events[1]?.eventId }] },
    { items: [{ eventId: events[0]?.eventId }], nextCursor: null },
  ])
})

test.each<[string, string, string?]>([
  ['callId=', '/callId'],
  [`correlationId=${'x'.repeat(257)}`, '/correlationId'],
  ['number=123', '/number', 'must be a phone number, or at least its last four digits'],
  ['number=sip', '/number'],
  ['number=0000', '/number', 'must have a digit other than 0'],
  ['number=%2B0%20(00)%200', '/number', 'must have a digit other than 0'],
  ['eventType=call', '/eventType'],
  ['from=yesterday', '/from'],
  ['limit=0', '/limit'],
  ['cursor=x', '/cursor'],
])('%s is rejected', async (query, pointer, detail = expect.any(String)) => {
  expect(await listed(`?${query}`)).toMatchObject({
    status: 400,
    body: { code: 'invalid-request', errors: [{ pointer, detail }] },
  })
})
