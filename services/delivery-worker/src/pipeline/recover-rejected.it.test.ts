import { randomUUID } from 'node:crypto'
import { type Delivery, newSubscriptionId, type ParkedReason } from '@switchhook/contracts'
import { anAttempt, type OpenedStore, useStore } from '@switchhook/servicekit'
import {
  createBreakerStore,
  createRejectionStore,
  createStateStore,
  createSubscriptionStore,
  createTimerStore,
} from '@switchhook/store'
import { aDelivery, aSubscription, eventually, unverified } from '@switchhook/testkit'
import { ok } from '../testing/delivering.ts'
import type { AfterSettled } from './pipeline.ts'
import type { At } from './progress.ts'
import { createRecoverRejected } from './recover-rejected.ts'

let world: OpenedStore
/** Their questions are stored, and counted. */
let workers: readonly AfterSettled[]
let asked: number
let delivery: Delivery

useStore((opened) => (world = opened))
beforeEach(() => {
  asked = 0
  const state = createStateStore(world.redis)
  const commit: typeof state.commit = (tenant, change) => {
    asked++
    return state.commit(tenant, change)
  }
  workers = [1, 2].map(() => createRecoverRejected(world.store, createRejectionStore(world.redis), { commit }))
  delivery = { ...aDelivery(), tenant: randomUUID(), subscriptionId: newSubscriptionId() }
})

const subscribe = (change: { readonly recoverRejected?: true }) => {
  const { subscriptionId: id, tenant } = delivery
  return createSubscriptionStore(world.redis, unverified, {}).create(aSubscription({ id, tenant, ...change }))
}
const rejected = async () =>
  (await createBreakerStore(world.redis, { failures: 5, cooldownMs: 1 }).readEndpoint(delivery)).rejected

/** A delivery that the endpoint has acknowledged while these rejections were recorded. */
const acknowledged = (recorded: string | undefined): At<'settled'> => ({
  kind: 'settled',
  delivery,
  rejected: recorded,
  result: { via: 'pull', delivery, outcome: ok, attempt: anAttempt() },
  written: { decision: { kind: 'acknowledged' }, excess: [] },
})

async function park(reason: ParkedReason, change: Partial<Delivery> = {}): Promise<void> {
  const parked = { ...delivery, ...change }
  await world.store.park(parked, null, reason)
  for (const settled of workers) await settled({ kind: 'settled', delivery: parked, rejected: '' })
}

test('workers that ask at the same time, and again, set one timer; another rejection asks anew', async () => {
  await subscribe({ recoverRejected: true })
  expect(await rejected()).toBe('')
  await park('rejected')
  const recorded = await rejected()
  expect(recorded).toMatch(/^\d{13} [\da-f-]{36}$/)
  await Promise.all([...workers, ...workers].map((settled) => settled(acknowledged(recorded))))
  for (const settled of workers) await settled(acknowledged(recorded))
  const due = await eventually(
    async () => {
      const claimed = await createTimerStore(world.redis).claimDue(10, 60_000)
      expect(claimed).toHaveLength(1)
      return claimed
    },
    { timeoutMs: 5_000 },
  )
  const { subscriptionId, tenant } = delivery
  expect(due).toMatchObject([{ id: `rejected:${subscriptionId}`, tenant, payload: { subscriptionId } }])
  const before = asked
  await park('rejected')
  for (const settled of workers) await settled(acknowledged(await rejected()))
  expect(asked).toBe(before + 2)
})

test('an endpoint that goes on rejecting some deliveries does not defer its recovery', async () => {
  await subscribe({ recoverRejected: true })
  const rejectAndAsk = async () => {
    await park('rejected')
    for (const settled of workers) await settled(acknowledged(await rejected()))
    const claimed = await createTimerStore(world.redis).claimDue(10, 60_000)
    expect(claimed.filter(({ tenant }) => tenant === delivery.tenant)).toHaveLength(1)
  }
  await eventually(rejectAndAsk, { timeoutMs: 5_000, intervalMs: 100 })
})

test.each<[string, ParkedReason, Partial<Delivery>]>([
  ['whose schedule has ended', 'exhausted', {}],
  ['that was sent again', 'rejected', { run: 2 }],
])('a parked delivery %s is not recorded', async (_name, reason, change) => {
  await subscribe({ recoverRejected: true })
  await park(reason, change)
  expect(await rejected()).toBe('')
})

test('without the setting, a read shows no rejections', async () => {
  await subscribe({})
  await park('rejected')
  expect(await rejected()).toBeUndefined()
})
