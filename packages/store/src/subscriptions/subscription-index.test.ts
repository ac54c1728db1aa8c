import {
  EVENT_TYPES,
  parseSubscriptionId,
  passesFilter,
  receives,
  type Subscription,
  type SubscriptionFilter,
} from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import fc from 'fast-check'
import { matchOf, SubscriptionIndex } from './subscription-index.ts'

const idOf = (n: number) => parseSubscriptionId(`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`)

const values = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 })
const conditions = fc.oneof(
  { weight: 3, arbitrary: values },
  fc.constant([{ prefix: 'a' }, 'a', { prefix: 'ab' }]),
  fc.constantFrom([{ suffix: 'c' }], [{ suffix: 'bc' }, { suffix: 'c' }, { prefix: 'a' }]),
  fc.constantFrom(['b', null], [null], [{ exists: false }, { suffix: 'c' }]),
  fc.constantFrom([{ exists: true }], [{ 'anything-but': 'a' }], [{ 'anything-but': ['b', 2] }, null]),
  fc.constantFrom([{ numeric: ['>', 1] }], [{ numeric: ['>', 1, '<=', 2] }, 'a']),
)
const fields = fc.dictionary(fc.constantFrom('agentUri', 'cli'), conditions, { minKeys: 1 })
const filter = fc.option(
  fc.dictionary(fc.constantFrom<string>('call.status', 'agent.status'), fields, { minKeys: 1 }),
  { nil: undefined },
) as fc.Arbitrary<SubscriptionFilter | undefined>
const events = [
  {},
  { agentUri: 'a' },
  { agentUri: 'b', cli: 'a' },
  { agentUri: 'c', cli: null },
  { cli: 'abc' },
  { cli: 2 },
  { agentUri: 'bc', cli: 3 },
]

const subscription = fc.record({
  n: fc.nat(8),
  filter,
  eventTypes: fc.uniqueArray(fc.constantFrom(...EVENT_TYPES, '*' as const), { minLength: 1 }),
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
      const index = new SubscriptionIndex()
      const all = new Map<string, Subscription>()
      for (const { n, isRemoved, ...over } of steps) {
        const id = idOf(n)
        const created = aSubscription({ id, ...over })
        index.put(id, isRemoved ? undefined : created)
        if (isRemoved) all.delete(id)
        else all.set(id, created)
      }
      for (const eventType of EVENT_TYPES) {
        const expected = [...all.values()].filter((each) => receives(each, eventType))
        const view = expected.map(matchOf)
        expect(index.matching(eventType).toSorted(byId)).toEqual(view.toSorted(byId))
        for (const data of events) {
          const passed = view.filter((each) => passesFilter(each.filter, eventType, data))
          expect(index.matching(eventType, data).toSorted(byId)).toEqual(passed.toSorted(byId))
        }
      }
      expect(index.size).toBeGreaterThanOrEqual(all.size - disabledIn(all))
      for (const id of all.keys()) index.put(parseSubscriptionId(id), undefined)
      expect(index.size).toBe(0)
    }),
  )
})

const disabledIn = (all: ReadonlyMap<string, Subscription>): number =>
  [...all.values()].filter(({ enabled }) => !enabled).length

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

test('an event judges only the filters that share a value with it: 5,000 filters of a tenant cost what a few do', () => {
  const index = new SubscriptionIndex()
  for (let n = 0; n < 5_000; n++) {
    const fields = { state: [3, 7], agentUri: [`sip:agent-${n % 1_000}`], direction: [1] }
    index.put(idOf(n), aSubscription({ id: idOf(n), filter: { 'call.status': fields } }))
  }
  let reads = 0
  const data = new Proxy<Record<string, unknown>>(
    { state: 3, agentUri: 'sip:agent-7', direction: 1 },
    {
      get: (target, field) => {
        reads += 1
        return target[String(field)]
      },
    },
  )
  expect(index.matching('call.status', data)).toHaveLength(5)
  expect(reads).toBeLessThan(50)
})
