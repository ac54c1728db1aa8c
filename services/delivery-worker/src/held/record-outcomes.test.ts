import { newEventId } from '@switchhook/contracts'
import { aDelivery } from '@switchhook/testkit'
import { heldParts } from '../testing/delivering.ts'
import { createRecordOutcomes, READ_AT_ONCE } from './record-outcomes.ts'

/*
 * The lists of held and leased deliveries, as the store keeps them: a delivery that has a lease is not listed again, and an
 * entry is removed only with the lease that was read.
 */
function recordAgain(present: { readonly lease?: string; readonly isListed?: true; readonly isReadBefore?: true }) {
  const token = present.isReadBefore ? 'of-this-attempt' : 'of-the-next-attempt'
  const delivery = { ...aDelivery(), attempt: 1, token }
  const { deliveryId, tenant, subscriptionId } = delivery
  const leased = new Map(present.lease === undefined ? [] : [[deliveryId, present.lease]])
  const held = new Set(present.isListed ? [deliveryId] : [])
  const record = createRecordOutcomes({
    ...heldParts(),
    heldLimit: {
      listAgain: async () => {
        if (!leased.has(deliveryId)) held.add(deliveryId)
      },
    },
    held: {
      read: async () => [{ delivery, dueAtMs: 0 }],
      recorded: async () => {},
      remove: async (_id, _list, entries) => {
        for (const { deliveryId: id, score } of entries) if (leased.get(id) === score) leased.delete(id)
      },
    },
  })
  const outcome = { kind: 'answered' as const, status: 503 }
  const item = { deliveryId, attempt: 1, token: 'of-this-attempt', lease: 'own', at: '', durationMs: 1, outcome }
  const recorded = record({ batchId: newEventId(), tenant, subscriptionId, items: [item] })
  return recorded.then(() => ({ isListed: held.has(deliveryId), isLeased: leased.has(deliveryId) }))
}

test.each<[string, Parameters<typeof recordAgain>[0], { isListed: boolean; isLeased: boolean }]>([
  ['its lease, because the entry was not written', { lease: 'own' }, { isListed: true, isLeased: false }],
  [
    'its lease, and went on after it was read here',
    { lease: 'own', isReadBefore: true },
    { isListed: true, isLeased: false },
  ],
  ['neither lease nor entry', {}, { isListed: true, isLeased: false }],
  ['its entry', { isListed: true }, { isListed: true, isLeased: false }],
  ['the lease of a client that received it again', { lease: 'other' }, { isListed: false, isLeased: true }],
])('a repeated batch leaves one way on to a delivery that has gone on and has %s', async (_name, present, expected) => {
  await expect(recordAgain(present)).resolves.toEqual(expected)
})

test('of a batch of 100 outcomes, the messages of 25 are held at once, and each is recorded', async () => {
  const deliveries = Array.from({ length: 100 }, () => ({ ...aDelivery(), token: 'of-this-attempt' }))
  const reads: number[] = []
  const listed: string[] = []
  const ended: string[] = []
  const record = createRecordOutcomes({
    ...heldParts(),
    heldLimit: { listAgain: async ({ deliveryId }) => void listed.push(deliveryId) },
    held: {
      read: async (ids) => {
        reads.push(ids.length)
        return ids.map((id) => ({
          delivery: deliveries.find(({ deliveryId }) => deliveryId === id) ?? aDelivery(),
          dueAtMs: 0,
        }))
      },
      recorded: async () => {},
      remove: async (_id, _list, entries) => void ended.push(...entries.map(({ deliveryId }) => deliveryId)),
    },
  })
  const ids = deliveries.map(({ deliveryId }) => deliveryId)
  const outcome = { kind: 'answered' as const, status: 503 }
  const items = ids.map((deliveryId) => ({
    deliveryId,
    attempt: 1,
    token: 'of-this-attempt',
    lease: 'own',
    at: '',
    durationMs: 1,
    outcome,
  }))
  const { tenant, subscriptionId } = deliveries[0] ?? aDelivery()
  await record({ batchId: newEventId(), tenant, subscriptionId, items })
  expect([Math.max(...reads), reads.length]).toEqual([READ_AT_ONCE, 4])
  expect([ended, listed]).toEqual([ids, ids])
})
