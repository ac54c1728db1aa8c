import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type Tenant,
  Unavailable,
} from '@switchhook/contracts'
import { answerWithin } from '@switchhook/runtime'
import {
  attemptOf,
  newDelivery,
  type Surroundings,
  startSurroundings,
  startWorkerStub,
  type WorkerStub,
  waitingUntil,
} from '@switchhook/servicekit'
import {
  createDeliveryArchive,
  createHeldStore,
  createJournalReader,
  createSubscriptionStore,
  type DeliveryArchive,
  type DeliveryStore,
  type Redis,
} from '@switchhook/store'
import { brokerAlarm, eventually, startTcpProxy, type TcpProxy, unverified } from '@switchhook/testkit'
import { type Answer, bind } from '../../http/route.ts'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import { redeliverDelivery } from './delivery-routes.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const DELIVERIES = '/api/v1/webhooks/deliveries'

const alarm = brokerAlarm()
const testWithAlarm = alarm === undefined ? test.skip : test
afterAll(() => alarm?.clear())

let surroundings: Surroundings<'acme' | 'globex'>
let wire: TcpProxy
let api: ApiUnderTest
let redis: Redis
let worker: WorkerStub
let store: DeliveryStore
let acme: { authorization: string }
let globex: { authorization: string }
let due: Delivery[]

beforeAll(async () => {
  surroundings = await startSurroundings('acme', 'globex')
  wire = await startTcpProxy(surroundings.broker.amqpUrl)
  api = await startApiUnderTest({
    ...surroundings.env,
    AMQP_URL: wire.url,
  })
  acme = surroundings.bearer('acme')
  globex = surroundings.bearer('globex')

  worker = await startWorkerStub(surroundings)
  ;({ redis, store, due } = worker)
})

afterAll(async () => {
  await api.close()
  await worker.close()
  await wire.close()
  await surroundings.close()
})

afterEach(() => {
  due.length = 0
})

async function subscribe(headers = acme, path = '/hooks'): Promise<string> {
  const json = { url: `https://client.example${path}`, eventTypes: ['call.status'] }
  const { body } = await api.call('POST', SUBSCRIPTIONS, { headers, json })
  return (body as { id: string }).id
}

const LAST = { outcome: 'timeout', status: null } as const

/** Parks a delivery as a worker does: the first attempt failed, and the second was the last of the schedule. */
async function park(subscription: string, tenant: Tenant = 'acme'): Promise<Delivery> {
  const delivery = newDelivery(subscription, { tenant })
  await store.settle(delivery, attemptOf(delivery), waitingUntil(delivery.firstDueAt))
  const last = { ...delivery, slot: 1, attempt: 1 }
  await store.park(last, attemptOf(last, LAST), 'exhausted')
  return last
}

const fail = (): never => {
  throw new Error('not yet')
}

interface View {
  readonly deliveryId: string
  readonly state: string
  readonly attempts: readonly Attempt[]
}

interface Page {
  readonly items: readonly View[]
  readonly nextCursor: string | null
}

describe('the parked deliveries of a subscription', () => {
  const list = async (subscription: string, query = ''): Promise<Page> =>
    (await api.call('GET', `${SUBSCRIPTIONS}/${subscription}/deliveries${query}`, { headers: acme })).body as Page

  test('are listed, the newest first, without their envelopes', async () => {
    const subscription = await subscribe()
    const parked = [await park(subscription), await park(subscription)]
    await park(await subscribe())
    const { items, nextCursor } = await list(subscription)
    expect(items.map(({ deliveryId }) => deliveryId)).toEqual(parked.map(({ deliveryId }) => deliveryId).toReversed())
    expect(nextCursor).toBeNull()
    expect(items[0]).toMatchObject({ state: 'parked', parkedReason: 'exhausted', run: 1, parkedAt: expect.any(String) })
    expect(items[0]).not.toHaveProperty('envelope')
    expect(items[0]).not.toHaveProperty('tenant')
  })

  test('come in pages, and new ones do not move others to another page', async () => {
    const subscription = await subscribe()
    const parked: string[] = []
    for (let i = 0; i < 5; i++) parked.unshift((await park(subscription)).deliveryId)
    const first = await list(subscription, '?limit=2')
    await park(subscription)
    const second = await list(subscription, `?limit=2&cursor=${first.nextCursor}`)
    const third = await list(subscription, `?limit=2&state=parked&cursor=${second.nextCursor}`)
    const read = [first, second, third].flatMap(({ items }) => items.map(({ deliveryId }) => deliveryId))
    expect(read).toEqual(parked)
    expect(third.nextCursor).toBeNull()
  })

  test('are an empty list at first', async () => {
    expect(await list(await subscribe())).toEqual({ items: [], nextCursor: null })
  })

  test.each([
    '?limit=0',
    '?limit=101',
    '?limit=x',
    '?limit=1&limit=2',
    '?state=sleeping',
    '?from=yesterday',
    '?to=2016-12-31T23:59:60Z',
    '?from=2026-11-20T17:06:01Z&to=2026-11-20T17:06:00Z',
    '?state=any&from=2026-11-20T17:06:01Z&to=2026-11-20T17:06:01Z',
    '?eventType=call.dreamt',
    '?eventId=1',
    '?state=any&cursor=MTIz',
    '?cursor=',
    '?cursor=hello',
    '?cursor=%00',
    `?cursor=${'a'.repeat(600)}`,
  ])('%s answers 400 and names the parameter', async (query) => {
    const path = `${SUBSCRIPTIONS}/${await subscribe()}/deliveries${query}`
    const { status, body } = await api.call('GET', path, { headers: acme })
    expect(status).toBe(400)
    const [name] = /\w+(?==[^&]*$)/.exec(query) ?? []
    expect(body).toMatchObject({ code: 'invalid-request', errors: [{ pointer: `/${name}` }] })
  })

  test('of another tenant, a malformed id and an unknown id answer 404', async () => {
    for (const id of [await subscribe(globex), 'hello', newSubscriptionId()]) {
      const { status, body } = await api.call('GET', `${SUBSCRIPTIONS}/${id}/deliveries`, { headers: acme })
      expect(status).toBe(404)
      expect(body).toMatchObject({ code: 'subscription-not-found' })
    }
  })
})

describe('one delivery', () => {
  test('is shown with its envelope and every attempt', async () => {
    const delivery = await park(await subscribe())
    const { status, body } = await api.call('GET', `${DELIVERIES}/${delivery.deliveryId}`, { headers: acme })
    expect(status).toBe(200)
    expect(body).toEqual({
      deliveryId: delivery.deliveryId,
      subscriptionId: delivery.subscriptionId,
      eventId: delivery.eventId,
      eventType: 'call.status',
      url: delivery.url,
      state: 'parked',
      parkedReason: 'exhausted',
      parkedAt: expect.any(String),
      nextAttemptAt: null,
      run: 1,
      test: false,
      firstDueAt: delivery.firstDueAt,
      attempts: [
        { ...attemptOf({ ...delivery, slot: 0, attempt: 0 }), at: expect.any(String) },
        { ...attemptOf(delivery, LAST), at: expect.any(String) },
      ],
      envelope: JSON.parse(delivery.body.toString()),
      envelopeDropped: false,
    })
  })

  test('that was never parked is shown without an envelope', async () => {
    const delivery = newDelivery(await subscribe())
    await store.settle(delivery, attemptOf(delivery, { outcome: 'delivered', status: 204 }), { state: 'acknowledged' })
    const { body } = await api.call('GET', `${DELIVERIES}/${delivery.deliveryId}`, { headers: acme })
    expect(body).toMatchObject({
      state: 'acknowledged',
      envelope: null,
      attempts: [{ outcome: 'delivered', status: 204 }],
    })
  })

  test.each(['GET', 'POST'])('of another tenant, with a malformed id or unknown answers 404 to %s', async (method) => {
    const theirs = await park(await subscribe(globex), 'globex')
    const unknown = deliveryIdOf(newEventId(), newSubscriptionId())
    for (const id of [theirs.deliveryId, 'hello', unknown]) {
      const path = method === 'GET' ? `${DELIVERIES}/${id}` : `${DELIVERIES}/${id}/redeliver`
      const { status, body } = await api.call(method, path, { headers: acme })
      expect(status).toBe(404)
      expect(body).toMatchObject({ code: 'delivery-not-found' })
    }
    expect(due).toEqual([])
  })
})

describe('sending again', () => {
  const redeliver = (id: string, headers = acme) => api.call('POST', `${DELIVERIES}/${id}/redeliver`, { headers })
  const change = (id: string, json: object) => api.call('PATCH', `${SUBSCRIPTIONS}/${id}`, { headers: acme, json })

  test('starts a new run to the current url, with the same id and body, and continues the attempt count', async () => {
    const subscription = await subscribe()
    const parked = await park(subscription)
    await change(subscription, { url: 'https://client.example/repaired' })
    const { status, body } = await redeliver(parked.deliveryId)
    expect(status).toBe(202)
    const url = 'https://client.example/repaired'
    expect(body).toMatchObject({
      deliveryId: parked.deliveryId,
      state: 'pending',
      run: 2,
      parkedReason: null,
      parkedAt: null,
      url,
    })
    const [sent] = await eventually(() => {
      expect(due).toHaveLength(1)
      return due
    })
    const { deliveryId, subscriptionId, eventId, eventType, tenant } = parked
    expect(sent).toMatchObject({
      deliveryId,
      subscriptionId,
      eventId,
      eventType,
      tenant,
      url,
      run: 2,
      slot: 0,
      attempt: 2,
      // The subscription may be deleted before the first retry.
      signing: { secret: expect.any(String) },
    })
    expect(JSON.stringify(body)).not.toContain('signing')
    expect(sent?.body.equals(parked.body)).toBe(true)
    expect((await api.call('GET', `${DELIVERIES}/${deliveryId}`, { headers: acme })).body).toEqual(body)
    const { body: page } = await api.call('GET', `${SUBSCRIPTIONS}/${subscription}/deliveries`, { headers: acme })
    expect(page).toEqual({ items: [], nextCursor: null })
    const { body: audit } = await api.call('GET', '/api/v1/audit?limit=1', { headers: acme })
    expect(audit).toMatchObject({ items: [{ action: 'delivery.redelivered', on: { deliveryId, subscriptionId } }] })
  })

  test('a delivery whose attempt is due answers 409', async () => {
    const parked = await park(await subscribe())
    expect((await redeliver(parked.deliveryId)).status).toBe(202)
    const { status, body } = await redeliver(parked.deliveryId)
    expect(status).toBe(409)
    expect(body).toMatchObject({ code: 'delivery-not-parked' })
  })

  test('with one Idempotency-Key sends once, even if it was parked again before the request was repeated', async () => {
    const parked = await park(await subscribe())
    const keyed = { ...acme, 'idempotency-key': 'once more' }
    const first = await redeliver(parked.deliveryId, keyed)
    expect(first.status).toBe(202)
    const [sent] = await eventually(() => {
      expect(due).toHaveLength(1)
      return due
    })
    if (sent === undefined) throw new Error('nothing was sent')
    await store.park(sent, attemptOf(sent), 'rejected')
    const again = await redeliver(parked.deliveryId, keyed)
    expect(again).toMatchObject({ status: 202, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await redeliver(parked.deliveryId)).status).toBe(202)
    await eventually(() => expect(due.map(({ run }) => run)).toEqual([2, 3]))
  })

  describe('when the process dies before answering a request with a key, and the request is repeated', () => {
    const dead = () => Promise.reject(new Unavailable('redis', 'as if the process had died here'))

    /** Runs the request once per life, as if in a new process. Resolves to the last answer and the runs published in all. */
    async function runLives(
      deliveryId: string,
      lives: readonly { before?: () => Promise<void>; archive?: Partial<DeliveryArchive> }[],
    ) {
      const published: Delivery[] = []
      let answer: Answer | undefined
      for (const { before = async () => {}, archive = {} } of lives) {
        await before()
        const deliveries = { ...createDeliveryArchive(redis), ...archive }
        const publish = async (delivery: Delivery) => void published.push(delivery)
        const journal = createJournalReader(redis, { size: 0, retentionMs: 0, deliveryRetentionMs: 0 })
        const route = bind(redeliverDelivery, {
          subscriptions: createSubscriptionStore(redis, unverified, {}),
          deliveries,
          deliveryLog: { pending: () => Promise.reject(new Error('must not be called')) },
          journal,
          held: createHeldStore(redis),
          publish,
          now: Date.now,
        })
        const caller = { tenant: 'acme', clientId: 'crm', role: 'operator' } as const
        const asked = {
          caller,
          params: { deliveryId },
          query: {},
          body: undefined,
          requestId: 'r-1',
          isKeyed: true,
          isClosed: () => false,
        }
        const idFor = () => '5b1fbb0c-0d51-4d30-8fd1-1f3f3d3c5f5e'
        answer = await route.handle({ ...asked, idFor }).catch(() => undefined)
      }
      return { answer, runs: published.map(({ run }) => run) }
    }

    test('the part of the answer that is stored has neither the envelope nor the attempts', async () => {
      const { deliveryId } = await park(await subscribe())
      const { answer } = await runLives(deliveryId, [{}])
      expect(answer).toMatchObject({ status: 202, body: { deliveryId, envelope: null, attempts: [] } })
      expect(answer?.large).toMatchObject({ envelope: { deliveryId }, attempts: [{ run: 1 }, { run: 1 }] })
    })

    test('what its repeat needs is forgotten with the answer that is stored', async () => {
      const { deliveryId } = await park(await subscribe())
      const forgotten: unknown[] = []
      const archive = { redeliveryAnswered: async (...those: unknown[]) => void forgotten.push(those) }
      const { answer } = await runLives(deliveryId, [{ archive }])
      expect(forgotten).toEqual([])
      await answer?.answered?.()
      expect(forgotten).toEqual([[deliveryId, '5b1fbb0c-0d51-4d30-8fd1-1f3f3d3c5f5e']])
    })

    test('the repeat sends the run if the process died before publishing', async () => {
      const { deliveryId } = await park(await subscribe())
      const { answer, runs } = await runLives(deliveryId, [{ archive: { beginRedelivery: dead } }, {}])
      expect([answer?.status, runs]).toEqual([202, [2]])
    })

    test('the repeat sends nothing if a worker has acknowledged the run', async () => {
      const parked = await park(await subscribe())
      const rerun = { ...parked, run: 2, slot: 0, attempt: 2 }
      const acknowledge = async (): Promise<void> => {
        await store.settle(rerun, attemptOf(rerun), { state: 'acknowledged' })
      }
      const { answer, runs } = await runLives(parked.deliveryId, [
        { archive: { redeliverySent: dead } },
        { before: acknowledge },
      ])
      expect(answer).toMatchObject({ status: 202, body: { state: 'acknowledged', run: 2 } })
      expect(runs).toEqual([2])
    })

    test('the repeat sends nothing if the run is parked again, even if the subscription was disabled', async () => {
      const subscription = await subscribe()
      const parked = await park(subscription)
      const rerun = { ...parked, run: 2, slot: 0, attempt: 2 }
      const parkAgain = async (): Promise<void> => {
        await store.park(rerun, attemptOf(rerun), 'rejected')
        await change(subscription, { enabled: false })
      }
      const { answer, runs } = await runLives(parked.deliveryId, [
        { archive: { redeliverySent: dead } },
        { before: parkAgain },
        {},
      ])
      expect(answer).toMatchObject({ status: 202, body: { state: 'parked', run: 2 } })
      expect(runs).toEqual([2])
    })

    test('the repeat sends nothing if the run is parked again while it runs', async () => {
      const parked = await park(await subscribe())
      const rerun = { ...parked, run: 2, slot: 0, attempt: 2 }
      const archive = createDeliveryArchive(redis)
      const { answer, runs } = await runLives(parked.deliveryId, [
        { archive: { redeliverySent: dead } },
        {
          archive: {
            beginRedelivery: async (...asked) => {
              await store.park(rerun, attemptOf(rerun), 'rejected')
              return archive.beginRedelivery(...asked)
            },
          },
        },
      ])
      expect(answer).toMatchObject({ status: 202, body: { state: 'parked', run: 2 } })
      expect(runs).toEqual([2])
    })
  })

  test('with an Idempotency-Key is replayed with the envelope and the attempts of the first answer', async () => {
    const delivery = newDelivery(await subscribe())
    const data = { note: 'x'.repeat(100_000) }
    const body = Buffer.from(JSON.stringify({ ...(JSON.parse(delivery.body.toString()) as object), data }))
    await store.park({ ...delivery, body }, attemptOf(delivery, { answer: 'y'.repeat(400) }), 'rejected')
    const keyed = { ...acme, 'idempotency-key': 'a large one' }
    const first = await redeliver(delivery.deliveryId, keyed)
    expect(first).toMatchObject({ status: 202, body: { envelope: { data }, attempts: [{ run: 1 }] } })
    const sent = await eventually(() => due.find(({ deliveryId }) => deliveryId === delivery.deliveryId) ?? fail())
    await store.park(sent, attemptOf(sent), 'rejected')
    const again = await redeliver(delivery.deliveryId, keyed)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
  })

  test('under the key of a refusal sends, even if it was sent and parked again by another request meanwhile', async () => {
    const subscription = await subscribe()
    const parked = await park(subscription)
    const keyed = { ...acme, 'idempotency-key': 'refused at first' }
    await change(subscription, { enabled: false })
    expect(await redeliver(parked.deliveryId, keyed)).toMatchObject({ status: 409 })
    await change(subscription, { enabled: true })
    expect((await redeliver(parked.deliveryId)).status).toBe(202)
    const sent = await eventually(() => due.find(({ deliveryId }) => deliveryId === parked.deliveryId) ?? fail())
    await store.park(sent, attemptOf(sent), 'rejected')
    expect(await redeliver(parked.deliveryId, keyed)).toMatchObject({ status: 202, body: { state: 'pending', run: 3 } })
    await eventually(() => expect(due.map(({ run }) => run)).toEqual([2, 3]))
  })

  test('of concurrent requests sends once', async () => {
    const { deliveryId } = await park(await subscribe())
    const answers = await Promise.all(Array.from({ length: 6 }, () => redeliver(deliveryId)))
    const refused = answers.filter(({ status }) => status !== 202)
    expect(refused).toHaveLength(5)
    for (const answer of refused) expect(answer).toMatchObject({ status: 409, body: { code: 'delivery-not-parked' } })
    await eventually(() => expect(due).toHaveLength(1))
  })

  test('for a disabled subscription answers 409, and works once it is enabled', async () => {
    const subscription = await subscribe()
    const parked = await park(subscription)
    await change(subscription, { enabled: false })
    expect(await redeliver(parked.deliveryId)).toMatchObject({ status: 409, body: { code: 'subscription-disabled' } })
    expect(due).toEqual([])
    await change(subscription, { enabled: true })
    expect((await redeliver(parked.deliveryId)).status).toBe(202)
  })

  test('for a deleted subscription answers 409; the delivery can still be read', async () => {
    const subscription = await subscribe()
    const parked = await park(subscription)
    await api.call('DELETE', `${SUBSCRIPTIONS}/${subscription}`, { headers: acme })
    expect(await redeliver(parked.deliveryId)).toMatchObject({ status: 409, body: { code: 'subscription-deleted' } })
    expect((await api.call('GET', `${DELIVERIES}/${parked.deliveryId}`, { headers: acme })).status).toBe(200)
  })

  test('while the broker is away answers 503; the delivery stays parked and can be sent once the broker is back', async () => {
    const subscription = await subscribe()
    const parked = await park(subscription)
    wire.refuse()
    await eventually(() => expect(api.isReady()).toBe(false))
    const { status, headers, body } = await redeliver(parked.deliveryId)
    expect(status).toBe(503)
    expect(body).toMatchObject({ code: 'service-unavailable' })
    expect(headers.get('retry-after')).toBe('5')
    const { body: page } = await api.call('GET', `${SUBSCRIPTIONS}/${subscription}/deliveries`, { headers: acme })
    expect((page as Page).items.map(({ deliveryId }) => deliveryId)).toEqual([parked.deliveryId])
    wire.accept()
    await eventually(() => expect(api.isReady()).toBe(true), { timeoutMs: 30_000 })
    expect((await redeliver(parked.deliveryId)).status).toBe(202)
    await eventually(() => expect(due).toMatchObject([{ deliveryId: parked.deliveryId, run: 2, attempt: 2 }]))
  })

  testWithAlarm('during an alarm of the private broker answers 503 within seconds', async () => {
    const parked = await park(await subscribe())
    try {
      await alarm?.raise('memory')
      expect((await answerWithin(5_000, redeliver(parked.deliveryId), 'late')).status).toBe(503)
    } finally {
      await alarm?.clear()
    }
    await eventually(async () => expect((await redeliver(parked.deliveryId)).status).toBe(202))
    await eventually(() => expect(due).toContainEqual(expect.objectContaining({ deliveryId: parked.deliveryId })))
  })
})
