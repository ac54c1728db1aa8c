import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, type Subscription } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import { createAdmit } from './admit.ts'
import { type EndpointState, LOOK_REUSE_MS } from './recent-looks.ts'

const id = newSubscriptionId()
const SUBSCRIPTION: Subscription = {
  id,
  tenant: 'acme',
  url: 'https://client.example/hook',
  eventTypes: ['call.status'],
  description: null,
  enabled: true,
  createdAt: '2026-01-01T00:00:00.000Z',
}
const HEALTHY: EndpointHealth = { state: 'closed', consecutiveFailures: 0, openUntilMs: null }

function aDelivery(change: Partial<Delivery> = {}): Delivery {
  const eventId = newEventId()
  return {
    deliveryId: deliveryIdOf(eventId, id),
    subscriptionId: id,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: SUBSCRIPTION.url,
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: '2026-01-01T00:00:00.000Z',
    body: Buffer.from('{}'),
    ...change,
  }
}

/** A worker whose store answers at once. The test moves the clock and changes the stored endpoint. */
function aWorker() {
  const world = {
    nowMs: 1_000,
    looks: 0,
    isFailing: false,
    stored: { health: HEALTHY, subscription: SUBSCRIPTION } as EndpointState,
  }
  const admit = createAdmit({
    look: async () => {
      world.looks += 1
      return world.stored
    },
    isFailing: () => world.isFailing,
    canSign: () => true,
    nowMs: () => world.nowMs,
  })
  return { world, admit }
}

test('first attempts to one endpoint share a look, with the lease of its question', async () => {
  const { world, admit } = aWorker()
  const [first, second] = [admit(aDelivery()), admit(aDelivery())]
  const { lease } = await first
  expect((await second).lease).toEqual(lease)
  world.nowMs += LOOK_REUSE_MS - 1
  expect((await admit(aDelivery())).lease).toEqual(lease)
  expect(world.looks).toBe(1)
  world.nowMs += 1
  expect((await admit(aDelivery())).lease?.trustedUntilMs).toBe((lease?.trustedUntilMs ?? 0) + LOOK_REUSE_MS)
  expect(world.looks).toBe(2)
})

test.each<[string, Partial<Subscription> | undefined]>([
  ['created', undefined],
  ['enabled', { enabled: false }],
  ['given the event type', { eventTypes: ['agent.status'] }],
])('a subscription that was %s after the last look receives its next delivery', async (_what, before) => {
  const { world, admit } = aWorker()
  world.stored = { health: HEALTHY, subscription: before && { ...SUBSCRIPTION, ...before } }
  expect((await admit(aDelivery())).admitted).toEqual({ kind: 'withdrawn' })
  world.stored = { health: HEALTHY, subscription: SUBSCRIPTION }
  expect((await admit(aDelivery())).admitted).toMatchObject({ url: SUBSCRIPTION.url })
})

test('while this worker sees the endpoint fail, every delivery looks', async () => {
  const { world, admit } = aWorker()
  await admit(aDelivery())
  world.isFailing = true
  await admit(aDelivery())
  await admit(aDelivery())
  expect(world.looks).toBe(3)
  world.isFailing = false
  await admit(aDelivery())
  expect(world.looks).toBe(4)
})

test.each<[string, EndpointHealth]>([
  ['has failures', { state: 'closed', consecutiveFailures: 1, openUntilMs: null }],
  ['is open', { state: 'open', consecutiveFailures: 5, openUntilMs: 9_000 }],
  ['awaits a probe', { state: 'probing', consecutiveFailures: 5, openUntilMs: 500 }],
])('no delivery relies on a look at a breaker that %s', async (_what, health) => {
  const { world, admit } = aWorker()
  world.stored = { health, subscription: SUBSCRIPTION }
  await admit(aDelivery())
  expect(await admit(aDelivery())).toMatchObject({ health })
  expect(world.looks).toBe(2)
})

test('a retry, and a delivery that names another tenant, look for themselves', async () => {
  const { world, admit } = aWorker()
  await admit(aDelivery())
  await admit(aDelivery({ attempt: 1, slot: 1 }))
  await admit(aDelivery({ tenant: 'other' }))
  expect(world.looks).toBe(3)
})

test('after a look that failed, the next delivery asks again', async () => {
  let looks = 0
  const admit = createAdmit({
    look: async () => {
      looks += 1
      if (looks === 1) throw new Error('Redis is away')
      return { health: HEALTHY, subscription: SUBSCRIPTION }
    },
    isFailing: () => false,
    canSign: () => true,
    nowMs: () => 0,
  })
  await expect(admit(aDelivery())).rejects.toThrow('Redis is away')
  expect((await admit(aDelivery())).health).toEqual(HEALTHY)
})
