import { Unparsable } from '../events/event.ts'
import { deliveryIdOf, newEventId, newSubscriptionId } from '../ids.ts'
import { type OutcomeBatch, parseOutcomeBatch, type ReportedOutcome } from './outcome-batch.ts'

const item: ReportedOutcome = {
  deliveryId: deliveryIdOf(newEventId(), newSubscriptionId()),
  attempt: 1,
  token: 'a',
  lease: '1770000000000030',
  at: '2026-01-01T00:00:00.000Z',
  durationMs: 12.5,
  outcome: { kind: 'delivered', status: 200 },
}
const batch: OutcomeBatch = { batchId: newEventId(), tenant: null, subscriptionId: newSubscriptionId(), items: [item] }
const parse = (change: object): OutcomeBatch => parseOutcomeBatch(Buffer.from(JSON.stringify({ ...batch, ...change })))

test('a batch is parsed unchanged, including one of a later version with additional fields', () => {
  const items = [item, { ...item, outcome: { kind: 'unreachable', reason: 'timeout' } }]
  expect(parse({ items })).toEqual({ ...batch, items })
  expect(parse({ later: 1 })).toMatchObject(batch)
})

test.each<[object, RegExp]>([
  [{ subscriptionId: 'x' }, /\/subscriptionId must be a GUID/],
  [{ items: [{ ...item, deliveryId: 'x' }] }, /\/items\/0\/deliveryId must be a GUID/],
  [{ items: [{ ...item, outcome: { kind: 'lost' } }] }, /\/items\/0\/outcome\/kind must be one of/],
])('%j cannot be understood', (change, said) => {
  expect(() => parse(change)).toThrow(Unparsable)
  expect(() => parse(change)).toThrow(said)
})
