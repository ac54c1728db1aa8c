import { type Delivery, deliveryIdOf, newToken, parseSubscriptionId, Unavailable } from '@switchhook/contracts'
import { logFanOut, loggedEvent, newDelivery } from '@switchhook/servicekit'
import {
  createDeliveryArchive,
  createDeliveryStore,
  createHeldStore,
  createJournal,
  createJournalReader,
  createSubscriptionStore,
  type DeliveryStore,
  type HeldStore,
  type Redis,
} from '@switchhook/store'
import { eventually, UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'
import { type RedeliverDeps, redeliver } from './redeliver.ts'

const WEBHOOKS = '/api/v1/webhooks'
const HOUR_MS = 3_600_000
const RETENTION = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }
const JOURNAL = { size: 1_000, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }

let api: ApiUnderTest
let redis: Redis
let store: DeliveryStore
let held: HeldStore
let acme: { authorization: string }

useApi(['acme'], (world) => {
  ;({
    api,
    redis,
    headers: { acme },
  } = world)
  store = createDeliveryStore(redis, RETENTION, UNLIMITED, unverified)
  held = createHeldStore(redis)
})

/** A delivery without a result, of a journaled event. */
async function deliver(subscription: object): Promise<Delivery> {
  const json = { eventTypes: ['call.status'], ...subscription }
  const { body } = await api.call('POST', `${WEBHOOKS}/subscriptions`, { headers: acme, json })
  const { id, url } = body as { readonly id: string; readonly url: string | null }
  const subscriptionId = parseSubscriptionId(id)
  const event = loggedEvent({ dataJson: '{"callId":"c-1"}', subscriptionIds: [subscriptionId] })
  await logFanOut(redis, event)
  await createJournal(redis, JOURNAL).append([event])
  const { eventId } = event
  return newDelivery(id, { eventId, deliveryId: deliveryIdOf(eventId, subscriptionId), url: url ?? '' })
}

async function hold(delivery: Delivery): Promise<Delivery> {
  const next = { token: newToken(), postponed: 0 }
  await store.settle(delivery, null, { state: 'held', slot: 0, next, dueInMs: 0, visitInMs: HOUR_MS })
  return delivery
}

const PULL = { mode: 'pull' }
const POST = { url: 'https://client.example/hooks' }

const redeliverIt = ({ deliveryId }: Delivery, headers = {}) =>
  api.call('POST', `${WEBHOOKS}/deliveries/${deliveryId}/redeliver`, { headers: { ...acme, ...headers } })

describe('a delivery that a client has leased', () => {
  test('cannot be sent again, and the client keeps it', async () => {
    const delivery = await hold(await deliver(PULL))
    const { deliveryId, eventId, subscriptionId } = delivery
    const [leased] = await held.receive(delivery, 1, 60)
    const detail = expect.stringMatching(/^A client has leased this delivery until 20\S+Z\. /) as string
    const refused = { status: 409, body: { code: 'delivery-not-parked', detail } }
    expect(await redeliverIt(delivery)).toMatchObject(refused)
    const keyed = { 'idempotency-key': 'leased' }
    expect(await redeliverIt(delivery, keyed)).toMatchObject(refused)
    const path = `${WEBHOOKS}/events/${eventId}/deliver`
    expect(await api.call('POST', path, { headers: acme, json: { subscriptionId } })).toMatchObject(refused)
    const lease = leased?.lease ?? ''
    expect(await held.release(subscriptionId, [{ deliveryId, lease }])).toEqual([true])
    // The refusal is not kept for its key. The broker may still have the alarm of another test.
    await eventually(async () =>
      expect(await redeliverIt(delivery, keyed)).toMatchObject({ status: 202, body: { run: 2, state: 'pending' } }),
    )
  })

  test('can be sent again after the end of its lease, before the visit of a worker', async () => {
    const delivery = await hold(await deliver(PULL))
    await held.receive(delivery, 1, 1)
    await eventually(async () => expect((await redeliverIt(delivery)).status).toBe(202))
  })

  test('cannot be sent by the repeat of a request whose process died before the client received it', async () => {
    const delivery = await hold(await deliver(PULL))
    const archive = createDeliveryArchive(redis)
    const published: Delivery[] = []
    const deps: RedeliverDeps = {
      subscriptions: createSubscriptionStore(redis, unverified, {}),
      deliveries: archive,
      journal: createJournalReader(redis, JOURNAL),
      held,
      publish: async (sent) => void published.push(sent),
      now: Date.now,
    }
    const beginRedelivery = () => Promise.reject(new Unavailable('redis', 'as if the process had died here'))
    const dying: RedeliverDeps = { ...deps, deliveries: { ...archive, beginRedelivery } }
    const found = async () => (await archive.find(delivery.deliveryId)) ?? fail()
    await expect(redeliver(dying, await found(), 'request-1')).rejects.toThrow('as if the process had died here')
    await held.receive(delivery, 1, 60)
    await expect(redeliver(deps, await found(), 'request-1')).rejects.toMatchObject({ code: 'delivery-not-parked' })
    expect(published).toEqual([])
  })
})

test.each<[string, object, (delivery: Delivery) => Promise<unknown>]>([
  ['is held until a client receives it', PULL, hold],
  ['is held because its subscription is paused', { ...POST, paused: true }, hold],
  ['has expired', POST, (delivery) => store.settle(delivery, null, { state: 'expired' })],
])('a delivery that %s can be sent again', async (_, subscription, settle) => {
  const delivery = await deliver(subscription)
  await settle(delivery)
  expect(await redeliverIt(delivery)).toMatchObject({ status: 202, body: { run: 2, state: 'pending' } })
})
