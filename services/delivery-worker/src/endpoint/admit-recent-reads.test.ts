import type { Delivery, Subscription } from '@switchhook/contracts'
import { aDeliveryTo } from '@switchhook/servicekit'
import type { EndpointHealth } from '@switchhook/store'
import { aSubscription } from '@switchhook/testkit'
import { HEALTHY } from '../testing/delivering.ts'
import { createAdmit, type EndpointState, READ_REUSE_MS } from './admit.ts'

const SUBSCRIPTION = aSubscription()

const ofSubscription = (change: Partial<Delivery> = {}): Delivery => ({ ...aDeliveryTo(SUBSCRIPTION), ...change })

/** A worker whose store answers immediately. The test moves the clock and changes the stored endpoint. */
function aWorker() {
  const world = {
    nowMs: 1_000,
    reads: 0,
    isFailing: false,
    stored: { health: HEALTHY, subscription: SUBSCRIPTION } as EndpointState,
  }
  const admit = createAdmit({
    readEndpoint: async () => {
      world.reads += 1
      return world.stored
    },
    isFailing: () => world.isFailing,
    canSign: () => true,
    findRemoved: async () => undefined,
    redisNow: Date.now,
    nowMs: () => world.nowMs,
  })
  return { world, admit }
}

test('first attempts to one endpoint share a read, with the lease of its question', async () => {
  const { world, admit } = aWorker()
  const [first, second] = [admit(ofSubscription()), admit(ofSubscription())]
  const { trustedUntilMs } = await first
  expect((await second).trustedUntilMs).toBe(trustedUntilMs)
  world.nowMs += READ_REUSE_MS - 1
  expect((await admit(ofSubscription())).trustedUntilMs).toBe(trustedUntilMs)
  expect(world.reads).toBe(1)
  world.nowMs += 1
  expect((await admit(ofSubscription())).trustedUntilMs).toBe(trustedUntilMs + READ_REUSE_MS)
  expect(world.reads).toBe(2)
})

test.each<[string, Partial<Subscription> | undefined]>([
  ['created', undefined],
  ['enabled', { enabled: false }],
  ['given the event type', { eventTypes: ['agent.status'] }],
])('a subscription that was %s after the last read receives its next delivery', async (_what, before) => {
  const { world, admit } = aWorker()
  world.stored = { health: HEALTHY, subscription: before && { ...SUBSCRIPTION, ...before } }
  expect((await admit(ofSubscription())).admission).toEqual({ kind: 'withdrawn' })
  world.stored = { health: HEALTHY, subscription: SUBSCRIPTION }
  expect((await admit(ofSubscription())).admission).toMatchObject({ delivery: { url: SUBSCRIPTION.url } })
})

test('while this worker sees the endpoint fail, every delivery reads', async () => {
  const { world, admit } = aWorker()
  await admit(ofSubscription())
  world.isFailing = true
  await admit(ofSubscription())
  await admit(ofSubscription())
  expect(world.reads).toBe(3)
  world.isFailing = false
  await admit(ofSubscription())
  expect(world.reads).toBe(4)
})

test.each<[string, EndpointHealth]>([
  ['has failures', { state: 'closed', consecutiveFailures: 1, openUntilMs: null, recentHangs: 0 }],
  ['is open', { state: 'open', consecutiveFailures: 5, openUntilMs: 9_000, recentHangs: 0 }],
  ['awaits a probe', { state: 'probing', consecutiveFailures: 5, openUntilMs: 500, recentHangs: 0 }],
])('no delivery relies on a look at a breaker that %s', async (_what, health) => {
  const { world, admit } = aWorker()
  world.stored = { health, subscription: SUBSCRIPTION }
  await admit(ofSubscription())
  expect(await admit(ofSubscription())).toMatchObject({ health })
  expect(world.reads).toBe(2)
})

test('a retry, and a delivery that names another tenant, look for themselves', async () => {
  const { world, admit } = aWorker()
  await admit(ofSubscription())
  await admit(ofSubscription({ attempt: 1, slot: 1 }))
  await admit(ofSubscription({ tenant: 'other' }))
  expect(world.reads).toBe(3)
})

test('after a read that failed, the next delivery asks again', async () => {
  let reads = 0
  const admit = createAdmit({
    readEndpoint: async () => {
      reads += 1
      if (reads === 1) throw new Error('Redis is away')
      return { health: HEALTHY, subscription: SUBSCRIPTION }
    },
    isFailing: () => false,
    canSign: () => true,
    findRemoved: async () => undefined,
    redisNow: Date.now,
    nowMs: () => 0,
  })
  await expect(admit(ofSubscription())).rejects.toThrow('Redis is away')
  expect((await admit(ofSubscription())).health).toEqual(HEALTHY)
})
