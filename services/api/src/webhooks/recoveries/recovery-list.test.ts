import { deliveryIdOf, newEventId, newSubscriptionId } from '@switchhook/contracts'
import fc from 'fast-check'
import { countItems, takeItems, wentTo } from './recovery-list.ts'

const [id, other, another] = [newSubscriptionId(), newSubscriptionId(), newSubscriptionId()]
const subscription = { id, createdAt: '2026-11-20T12:00:00.000Z' }

test.each<[string, boolean | 'unknown', Partial<Parameters<typeof wentTo>[1]>]>([
  ['is in the complete list', true, { subscriptionIds: [other, id] }],
  ['is not in the complete list', false, { subscriptionIds: [other] }],
  ['is in a cut list', true, { subscriptionIds: [other, id], subscriptionCount: 3 }],
  ['is not in a cut list', 'unknown', { subscriptionIds: [other, another], subscriptionCount: 3 }],
  [
    'was created within the difference of two clocks after an event with a cut list',
    'unknown',
    { subscriptionIds: [other], subscriptionCount: 2, fannedOutAt: '2026-11-20T11:59:00.000Z' },
  ],
  [
    'was created after an event with a cut list',
    false,
    { subscriptionIds: [other], subscriptionCount: 2, fannedOutAt: '2026-11-20T11:58:59.999Z' },
  ],
])('whether an event went to a subscription that %s: %s', (_case, expected, change) => {
  const { subscriptionIds = [] } = change
  const entry = { subscriptionIds, subscriptionCount: subscriptionIds.length, fannedOutAt: '2026-11-20T13:00:00.000Z' }
  expect(wentTo(subscription, { ...entry, ...change })).toBe(expected)
})

test('every item that can be sent is taken once, in order, and counted with the first and the last time', async () => {
  const kinds = fc.constantFrom('count', 'withoutBody', 'unknown', undefined)
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { maxLength: 600 }), fc.integer({ min: 1, max: 200 }), async (list, limit) => {
      const entries = list.map((countedAs, i) => {
        const item = { deliveryId: deliveryIdOf(newEventId(), id), run: 1 }
        return { item, at: String((i + 1) * 1_000), countedAs }
      })
      const read = async (after: string, size: number) =>
        entries.filter(({ at }) => Number(at) > Number(after)).slice(0, size)
      const wanted = entries.filter(({ countedAs }) => countedAs === 'count')
      const counted = await countItems(read, '0')
      const timeOf = (at?: string) => (at === undefined ? null : new Date(Number(at) / 1_000).toISOString())
      expect(counted).toMatchObject({
        count: wanted.length,
        withoutBody: list.filter((each) => each === 'withoutBody').length,
        unknown: list.filter((each) => each === 'unknown').length,
        oldest: timeOf(wanted[0]?.at),
        newest: timeOf(wanted.at(-1)?.at),
      })
      const taken: unknown[] = []
      for (let after: string | null = counted.sendableAfter; after !== null; ) {
        const found = await takeItems(read, after, limit)
        expect(found.items.length).toBeLessThanOrEqual(limit)
        taken.push(...found.items)
        after = found.after
      }
      expect(taken).toEqual(wanted.map(({ item }) => item))
    }),
    { numRuns: 50 },
  )
})
