import { SUBSCRIPTION_LEASE_MS } from '@switchhook/contracts'
import { openVault } from '@switchhook/signing'
import { aDelivery, aSubscription, silentLog } from '@switchhook/testkit'
import { createLeaseTokens } from './lease-tokens.ts'
import { receiveDeliveries } from './receive-route.ts'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** One delivery is held. `whileCounting` happens while Redis counts what is left, for the first time. */
async function receive(whileCounting: 'nothing' | 'a disable', publishMs = 0) {
  let subscription = aSubscription({ mode: 'pull', url: '' })
  const { id, tenant } = subscription
  const delivery = aDelivery({ subscriptionId: id, tenant, url: '' })
  const held = [{ delivery, lease: '1' }]
  let counted = false
  const withdrawn: string[] = []
  const ended: string[] = []
  const request = {
    caller: { tenant, clientId: 'a', role: 'operator' },
    params: { id },
    query: undefined as never,
    body: { waitSeconds: 0 },
    requestId: 'r',
    idFor: (name: string) => name,
    isKeyed: false,
    isClosed: () => false,
  } as const
  const { body } = await receiveDeliveries.handle(request, {
    subscriptions: { find: async () => subscription },
    held: {
      receive: async () => held.splice(0),
      release: async () => [],
      forget: async () => {},
      remove: async (_id, list, entries) => {
        for (const { deliveryId, score } of entries) ended.push(`${list} ${deliveryId} ${score}`)
      },
      count: async () => {
        if (!counted && whileCounting === 'a disable') {
          subscription = { ...subscription, enabled: false }
          jest.advanceTimersByTime(SUBSCRIPTION_LEASE_MS)
        }
        counted = true
        return { count: 0, leased: 0, oldestAt: null }
      },
    },
    pullers: { note: async () => {} },
    waiting: { enter: () => ({ wait: async () => false, leave: () => {} }) },
    signer: { canSign: () => true, headersOf: () => ({}), ownHeadersOf: () => ({}) },
    broker: {
      publishYielding: async ({ deliveryId }) => {
        withdrawn.push(deliveryId)
        // A test that publishes without end would not end either.
        if (withdrawn.length < 10) jest.advanceTimersByTime(publishMs)
      },
    },
    tokens: createLeaseTokens(openVault({ SECRET_KEYS: undefined }, silentLog)),
    redisNow: Date.now,
  })
  const { items } = body as { readonly items: readonly { readonly deliveryId: string }[] }
  return { received: items.map(({ deliveryId }) => deliveryId), withdrawn, ended, deliveryId: delivery.deliveryId }
}

test('a delivery is handed out', async () => {
  const { received, withdrawn, deliveryId } = await receive('nothing')
  expect([received, withdrawn]).toEqual([[deliveryId], []])
})

test('after the answer to a disable no first attempt is handed out, however long Redis takes', async () => {
  const { received, withdrawn, deliveryId } = await receive('a disable')
  expect([received, withdrawn]).toEqual([[], [deliveryId]])
})

test('what is no longer wanted is published once, however slow the broker is', async () => {
  const { withdrawn, ended, deliveryId } = await receive('a disable', SUBSCRIPTION_LEASE_MS)
  expect([withdrawn, ended]).toEqual([[deliveryId], [`leased ${deliveryId} 1`]])
})
