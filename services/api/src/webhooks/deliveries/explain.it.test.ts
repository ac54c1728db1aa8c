import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  type EventId,
  newEventId,
  parseSubscriptionId,
  type SubscriptionId,
} from '@switchhook/contracts'
import { logFanOut, loggedEvent, newDelivery, waitingUntil } from '@switchhook/servicekit'
import {
  createBreakerStore,
  createDeliveryStore,
  type DeliveryStore,
  type LoggedEvent,
  type Redis,
} from '@switchhook/store'
import { UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const EVENTS = '/api/v1/webhooks/events'
const HOUR_MS = 3_600_000

let api: ApiUnderTest
let redis: Redis
let store: DeliveryStore
let acme: { authorization: string }
let globex: { authorization: string }

useApi(['acme', 'globex'], (world) => {
  ;({
    api,
    redis,
    headers: { acme, globex },
  } = world)
  store = createDeliveryStore(redis, RETENTION, UNLIMITED, unverified)
})

const RETENTION = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }

async function subscribe(headers = acme, eventTypes: readonly string[] = ['call.status']): Promise<SubscriptionId> {
  const json = { url: 'https://client.example/hooks', eventTypes }
  const { body } = await api.call('POST', SUBSCRIPTIONS, { headers, json })
  return parseSubscriptionId((body as { id: string }).id)
}

async function fanOut(...subscriptionIds: readonly SubscriptionId[]): Promise<LoggedEvent> {
  const event = loggedEvent({ subscriptionIds })
  await logFanOut(redis, event)
  return event
}

const deliveryOf = ({ eventId, fannedOutAt }: LoggedEvent, subscriptionId: SubscriptionId): Delivery =>
  newDelivery(subscriptionId, { eventId, deliveryId: deliveryIdOf(eventId, subscriptionId), firstDueAt: fannedOutAt })

const attempt: Attempt = {
  run: 1,
  slot: 0,
  attempt: 1,
  at: '2026-11-20T17:06:02.000Z',
  durationMs: 12,
  outcome: 'answered',
  status: 503,
  answer: '{"error":"maintenance"}',
}

const ok: Attempt = {
  run: 1,
  slot: 0,
  attempt: 1,
  at: '2026-11-20T17:06:02.000Z',
  durationMs: 12,
  outcome: 'delivered',
  status: 204,
}

const nextAttemptAt = '2026-11-20T17:06:12.000Z'

describe('the deliveries of a subscription', () => {
  interface Page {
    readonly items: readonly { readonly eventId: string; readonly state: string; readonly attempts: unknown[] }[]
    readonly nextCursor: string | null
  }
  const list = async (subscription: string, query: string): Promise<Page> => {
    const { status, body } = await api.call('GET', `${SUBSCRIPTIONS}/${subscription}/deliveries${query}`, {
      headers: acme,
    })
    expect(status).toBe(200)
    return body as Page
  }
  const idsOf = ({ items }: Page): string[] => items.map(({ eventId }) => eventId)

  test('are listed in every state, with the answer of the endpoint; without a state, only parked ones', async () => {
    const id = await subscribe()
    const pending = await fanOut(id)
    const waiting = await fanOut(id)
    const parked = await fanOut(id)
    await store.settle(deliveryOf(waiting, id), attempt, waitingUntil(nextAttemptAt))
    await store.park(deliveryOf(parked, id), attempt, 'rejected')
    const all = await list(id, '?state=any')
    expect(all.items).toMatchObject([
      { eventId: parked.eventId, state: 'parked', attempts: [{ answer: '{"error":"maintenance"}' }] },
      { eventId: waiting.eventId, state: 'waiting', attempts: [attempt] },
      { eventId: pending.eventId, state: 'pending', attempts: [] },
    ])
    expect(idsOf(await list(id, '?state=pending'))).toEqual([pending.eventId])
    expect(idsOf(await list(id, ''))).toEqual([parked.eventId])
    expect(idsOf(await list(id, '?state=withdrawn'))).toEqual([])
  })

  test('come in pages of the requested size, by type, by event and by time', async () => {
    const id = await subscribe()
    const events = [await fanOut(id), await fanOut(id), await fanOut(id)]
    const [first, second, third] = events.map(({ eventId }) => eventId)
    const page = await list(id, '?state=any&limit=2')
    expect(idsOf(page)).toEqual([third, second])
    await fanOut(id)
    expect(idsOf(await list(id, `?state=any&limit=2&cursor=${page.nextCursor}`))).toEqual([first])
    expect(idsOf(await list(id, `?state=any&eventId=${second}`))).toEqual([second])
    expect(idsOf(await list(id, '?state=any&eventType=agent.status'))).toEqual([])
    expect(idsOf(await list(id, '?state=any&to=2026-01-01T00:00:00Z'))).toEqual([])
    expect(idsOf(await list(id, '?state=any&from=2026-01-01T00:00:00%2B01:00'))).toHaveLength(4)
  })

  test('have the same filters if they are parked', async () => {
    const id = await subscribe()
    const event = await fanOut(id)
    await store.park(deliveryOf(event, id), attempt, 'rejected')
    for (const query of [`?eventId=${event.eventId}`, '?eventType=call.status', '?from=2026-01-01T00:00:00Z']) {
      expect(idsOf(await list(id, query))).toEqual([event.eventId])
    }
    for (const query of [`?eventId=${newEventId()}`, '?eventType=agent.status', '?to=2026-01-01T00:00:00Z']) {
      expect(idsOf(await list(id, query))).toEqual([])
    }
  })
})

describe('the explanation of an event', () => {
  interface Explained {
    readonly eventId: string
    readonly occurredAt: string | null
    readonly subscriptions: readonly {
      readonly subscriptionId: string
      readonly verdict: string
      readonly explanation: string
      readonly coolingUntil: string | null
    }[]
  }
  const explain = (eventId: EventId | string, headers = acme) => api.call('GET', `${EVENTS}/${eventId}`, { headers })
  const verdictsOf = (body: unknown): Record<string, string> =>
    Object.fromEntries(
      (body as Explained).subscriptions.map(({ subscriptionId, verdict }) => [subscriptionId, verdict]),
    )

  test('covers each subscription of the tenant, and deleted ones', async () => {
    const [pending, waiting, delivered, parked, cooling, gone, other] = await Promise.all([
      subscribe(),
      subscribe(),
      subscribe(),
      subscribe(),
      subscribe(),
      subscribe(),
      subscribe(acme, ['agent.status']),
    ])
    const theirs = await subscribe(globex)
    const event = await fanOut(pending, waiting, delivered, parked, cooling, gone)
    await store.settle(deliveryOf(event, waiting), attempt, waitingUntil(nextAttemptAt))
    await store.settle(deliveryOf(event, delivered), ok, { state: 'acknowledged' })
    await store.park(deliveryOf(event, parked), attempt, 'rejected')
    await store.settle(deliveryOf(event, cooling), attempt, waitingUntil(nextAttemptAt))
    const breakers = createBreakerStore(redis, { failures: 1, cooldownMs: 60_000 })
    await breakers.recordFailure({ tenant: 'acme', subscriptionId: cooling }, undefined)
    await api.call('DELETE', `${SUBSCRIPTIONS}/${gone}`, { headers: acme })
    const later = await subscribe()

    const { status, body } = await explain(event.eventId)
    expect(status).toBe(200)
    expect(verdictsOf(body)).toMatchObject({
      [pending]: 'pending',
      [waiting]: 'waiting',
      [delivered]: 'delivered',
      [parked]: 'parked',
      [cooling]: 'cooling-down',
      [gone]: 'deleted',
      [other]: 'not-subscribed',
      [later]: 'created-later',
    })
    expect(verdictsOf(body)).not.toHaveProperty(theirs)
    const { eventId, eventType, occurredAt, fannedOutAt } = event
    expect(body).toMatchObject({ eventId, eventType, occurredAt, fannedOutAt })
    const found = (body as Explained).subscriptions.find(({ subscriptionId }) => subscriptionId === parked)
    expect(found).toMatchObject({ lastAttempt: attempt, parkedReason: 'rejected' })
    expect(found?.explanation).toMatch(/You can send it again\.$/)
  })

  test('comes in pages: the subscriptions that the event went to, then the others, each once', async () => {
    const [first, second, gone] = await Promise.all([subscribe(), subscribe(), subscribe()])
    const event = await fanOut(first, second, gone)
    await api.call('DELETE', `${SUBSCRIPTIONS}/${gone}`, { headers: acme })
    const whole = Object.keys(verdictsOf((await explain(event.eventId)).body))
    const listed: string[] = []
    let cursor: string | null = null
    do {
      const page: string = cursor === null ? '?limit=2' : `?limit=2&cursor=${cursor}`
      const { status, body } = await explain(`${event.eventId}${page}`)
      expect(status).toBe(200)
      const { subscriptions, nextCursor } = body as Explained & { readonly nextCursor: string | null }
      expect(subscriptions.length).toBeLessThanOrEqual(2)
      listed.push(...subscriptions.map(({ subscriptionId }) => subscriptionId))
      cursor = nextCursor
    } while (cursor !== null)
    expect(listed).toEqual(whole)
    expect(listed.slice(0, 3)).toEqual([first, second, gone])
    expect(new Set(listed).size).toBe(listed.length)
    expect(listed.length).toBeGreaterThan(3)
    expect(await explain(`${event.eventId}?cursor=abc`)).toMatchObject({ status: 400 })
  })

  test('has no empty page between the subscriptions that the event went to and the others', async () => {
    const recipients = await Promise.all(Array.from({ length: 4 }, () => subscribe(globex)))
    await subscribe(globex)
    const event = loggedEvent({ tenant: 'globex', subscriptionIds: recipients })
    await logFanOut(redis, event)
    const sizes: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await explain(`${event.eventId}?limit=2${cursor && `&cursor=${cursor}`}`, globex)
      const page = body as Explained & { readonly nextCursor: string | null }
      sizes.push(page.subscriptions.length)
      cursor = page.nextCursor
    }
    expect(sizes.length).toBeGreaterThan(2)
    expect(sizes).not.toContain(0)
  })

  test('of a parked delivery without a body says that it cannot be sent again', async () => {
    const id = await subscribe()
    const event = await fanOut(id)
    const one = { perSubscription: 1, perTenant: 1, released: () => {} }
    const limited = createDeliveryStore(redis, RETENTION, one, unverified)
    await limited.park(deliveryOf(event, id), attempt, 'rejected')
    await limited.park(deliveryOf(await fanOut(id), id), attempt, 'rejected')
    const { body } = await explain(event.eventId)
    expect((body as Explained).subscriptions.find(({ subscriptionId }) => subscriptionId === id)).toMatchObject({
      verdict: 'parked',
      explanation: expect.stringMatching(/so it cannot be sent again\.$/),
    })
  })

  test('covers an event without deliveries', async () => {
    const id = await subscribe(acme, ['agent.status'])
    const event = await fanOut()
    expect(verdictsOf((await explain(event.eventId)).body)).toMatchObject({ [id]: 'not-subscribed' })
  })

  test('is built from the deliveries if the event itself has expired', async () => {
    const id = await subscribe()
    const event: LoggedEvent = { ...(await fanOut()), eventId: newEventId(), subscriptionIds: [id] }
    await store.park(deliveryOf(event, id), attempt, 'exhausted')
    const { body } = await explain(event.eventId)
    expect(body).toMatchObject({ eventType: 'call.status', occurredAt: null, fannedOutAt: event.fannedOutAt })
    expect(verdictsOf(body)[id]).toBe('parked')
  })

  test('of a test covers only its own subscription', async () => {
    const [id] = await Promise.all([subscribe(), subscribe()])
    const asked = await api.call('POST', `${SUBSCRIPTIONS}/${id}/test`, { headers: acme, json: {} })
    const { eventId, deliveryId } = asked.body as { readonly eventId: string; readonly deliveryId: string }
    const { status, body } = await explain(eventId)
    expect(status).toBe(200)
    expect((body as Explained).subscriptions).toEqual([
      expect.objectContaining({
        subscriptionId: id,
        deliveryId,
        verdict: 'pending',
        explanation: expect.stringMatching(/^Test delivery\. /) as string,
      }),
    ])
  })

  test('of an unknown event, of another tenant’s and of a malformed id answers 404 with the possible reasons', async () => {
    const event = await fanOut(await subscribe())
    for (const [id, headers] of [
      [newEventId(), acme],
      [event.eventId, globex],
      ['hello', acme],
    ] as const) {
      const { status, body } = await explain(id, headers)
      expect(status).toBe(404)
      expect(body).toMatchObject({
        code: 'event-not-found',
        detail: expect.stringContaining('older than the retention time') as string,
      })
    }
  })
})
