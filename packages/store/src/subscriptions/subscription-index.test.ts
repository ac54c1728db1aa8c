import { EVENT_TYPES, parseSubscriptionId, receives, type Subscription } from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import fc from 'fast-check'
import { matchOf, SubscriptionIndex } from './subscription-index.ts'

const idOf = (n: number) => parseSubscriptionId(`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`)

const subscription = fc.record({
  n: fc.nat(8),
  eventTypes: fc.uniqueArray(fc.constantFrom(...EVENT_TYPES), { minLength: 1 }),
  enabled: fc.boolean(),
  url: fc.constantFrom('https://a.example', 'https://b.example'),
})
const step = fc.oneof(
  { weight: 3, arbitrary: subscription.map((change) => ({ ...change, isRemoved: false })) },
  { weight: 1, arbitrary: subscription.map((change) => ({ ...change, isRemoved: true })) },
)

test('after any changes, the index matches what filtering all subscriptions matches', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const index = new SubscriptionIndex('acme')
      const all = new Map<string, Subscription>()
      for (const { n, isRemoved, ...over } of steps) {
        const id = idOf(n)
        const created = aSubscription({ id, ...over })
        index.put(id, isRemoved ? undefined : created)
        if (isRemoved) all.delete(id)
        else all.set(id, created)
      }
      let entries = 0
      for (const eventType of EVENT_TYPES) {
        const expected = [...all.values()].filter((each) => receives(each, eventType))
        const view = expected.map(matchOf)
        const found = index.matching(eventType)
        expect(found.toSorted(byId)).toEqual(view.toSorted(byId))
        entries += found.length
      }
      expect(index.size).toBe(entries)
    }),
  )
})

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)
