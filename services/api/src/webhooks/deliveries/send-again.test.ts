import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, Unavailable } from '@switchhook/contracts'
import { newDelivery } from '@switchhook/servicekit'
import type { DeliveryRecord } from '@switchhook/store'
import { type SendAgainDeps, sendAgain } from './send-again.ts'

const eventId = newEventId()
const subscriptionId = newSubscriptionId()
const deliveryId = deliveryIdOf(eventId, subscriptionId)
const record: DeliveryRecord & { body: Buffer } = {
  deliveryId,
  subscriptionId,
  eventId,
  eventType: 'call.status',
  tenant: 'acme',
  url: 'https://client.example/broken',
  run: 2,
  slot: 0,
  attempt: 8,
  firstDueAt: '2026-01-01T00:00:00.000Z',
  state: 'pending',
  parkedReason: null,
  parkedAt: null,
  nextAttemptAt: null,
  attempts: [],
  body: Buffer.from('{}'),
}
const NOW = '2026-01-02T00:00:00.000Z'
const subscription = { url: 'https://client.example/repaired' }

function aSender(change: Partial<SendAgainDeps & SendAgainDeps['deliveries']> = {}) {
  const steps: unknown[] = []
  const { publish, now: _now, deliveries: _deliveries, ...archive } = change
  const deps: SendAgainDeps = {
    deliveries: {
      beginRedelivery: async (_id, by) => {
        steps.push(['begin', by])
        return { kind: 'begun', record }
      },
      abandonRedelivery: async (_id, by) => void steps.push(['abandon', by]),
      redeliverySent: async ({ url, firstDueAt }) => void steps.push(['sent', url, firstDueAt]),
      list: async (delivery) => void steps.push(['list', delivery]),
      ...archive,
    },
    publish: async (delivery: Delivery) => {
      steps.push(['publish', delivery.url, delivery.run])
      await publish?.(delivery)
    },
    now: () => Date.parse(NOW),
  }
  return { deps, steps }
}

const by = { sender: 'a recovery', parkedRun: 1 }

test('a parked delivery is published to the current url before it is recorded as sent', async () => {
  const { deps, steps } = aSender()
  const { url } = subscription
  expect(await sendAgain(deps, deliveryId, by, subscription)).toEqual({
    kind: 'sent',
    record: { ...record, url, firstDueAt: NOW },
  })
  expect(steps).toEqual([
    ['begin', by],
    ['publish', url, 2],
    ['sent', url, NOW],
  ])
})

test('a new delivery is listed once it is recorded as sent', async () => {
  const { deps, steps } = aSender()
  const fresh = newDelivery(subscriptionId)
  await sendAgain(deps, deliveryId, by, subscription, { which: 'new', body: fresh.body, fresh })
  expect(steps.slice(-2)).toEqual([
    ['sent', subscription.url, NOW],
    ['list', fresh],
  ])
})

test('when publishing fails, the lease is released, the delivery is not recorded as sent, and the caller gets the error', async () => {
  const { deps, steps } = aSender({ publish: () => Promise.reject(new Unavailable('rabbitmq', 'away')) })
  await expect(sendAgain(deps, deliveryId, by, subscription)).rejects.toThrow('away')
  expect(steps.map((step) => (step as string[])[0])).toEqual(['begin', 'publish', 'abandon'])
  expect(steps.at(-1)).toEqual(['abandon', by])
})

test('when the lease cannot be released either, the caller still gets the error of publishing', async () => {
  const { deps } = aSender({
    publish: () => Promise.reject(new Unavailable('rabbitmq', 'the broker is away')),
    abandonRedelivery: () => Promise.reject(new Unavailable('redis', 'Redis is away')),
  })
  await expect(sendAgain(deps, deliveryId, by, subscription)).rejects.toThrow('the broker is away')
})

test.each(['not-parked', 'busy', 'unknown', 'without-body'] as const)(
  'a delivery that is %s is not published',
  async (kind) => {
    const { deps, steps } = aSender({ beginRedelivery: async () => ({ kind }) })
    expect(await sendAgain(deps, deliveryId, by, subscription)).toEqual({ kind })
    expect(steps).toEqual([])
  },
)
