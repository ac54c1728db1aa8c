import { type Delivery, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { aDelivery } from '@switchhook/testkit'
import fc from 'fast-check'
import { createHangingLimit } from './hanging-limit.ts'

const MOST_HANGING = 3
const [quick, unknown] = [newSubscriptionId(), newSubscriptionId()]

interface Post {
  readonly end: () => void
}

/** Begins this many POSTs, each to an endpoint of its own unless one is given. */
function aLimit() {
  const clock = { nowMs: 1, stalledMs: 0 }
  const limit = createHangingLimit({
    mostHanging: MOST_HANGING,
    nowMs: () => clock.nowMs,
    runningMs: () => clock.nowMs - clock.stalledMs,
  })
  const begin = (count: number, of: Partial<Delivery> = {}): Post[] =>
    Array.from({ length: count }, () => {
      const delivery = aDelivery({ subscriptionId: newSubscriptionId(), ...of })
      return { end: limit.began(delivery) }
    })
  const isExceededBy = (subscriptionId: SubscriptionId, tenant = 'acme'): boolean =>
    limit.isExceededBy(aDelivery({ subscriptionId, tenant }))
  limit.recordDuration(aDelivery({ subscriptionId: quick }), 5)
  return { limit, clock, begin, isExceededBy }
}

test.each([
  // POSTs in progress, for ms; whether an unknown endpoint and a quick one exceed the limit.
  [3, 10_000, false, false],
  [4, 999, false, false],
  [4, 1_000, true, false],
  [1_000, 999, false, false],
  [1_000, 10_000, true, false],
])('with %d POSTs for %d ms, an unknown endpoint exceeds the limit: %s; a quick one: %s', (count, ms, ...expected) => {
  const { clock, begin, isExceededBy } = aLimit()
  begin(count)
  clock.nowMs += ms
  expect([isExceededBy(unknown), isExceededBy(quick)]).toEqual(expected)
  expect(isExceededBy(unknown, 'globex')).toBe(false)
})

test('an endpoint is known to be quick for a minute, and not while a POST to it hangs', () => {
  const { limit, clock, begin, isExceededBy } = aLimit()
  begin(4)
  clock.nowMs += 59_999
  expect(isExceededBy(quick)).toBe(false)
  const [hanging] = begin(1, { subscriptionId: quick })
  limit.recordDuration(aDelivery({ subscriptionId: quick }), 249)
  clock.nowMs += 1_000
  expect(isExceededBy(quick)).toBe(true)
  hanging?.end()
  expect(isExceededBy(quick)).toBe(false)
  clock.nowMs += 59_001
  expect(isExceededBy(quick)).toBe(true)
})

test('each duplicate of a delivery counts until it has ended', () => {
  const { clock, begin, isExceededBy } = aLimit()
  const duplicates = begin(5, { deliveryId: aDelivery().deliveryId })
  clock.nowMs += 1_000
  const seen = duplicates.map(({ end }) => {
    end()
    return isExceededBy(unknown)
  })
  expect(seen).toEqual([true, false, false, false, false])
})

test('a stall of the process makes no POST hang', () => {
  const { clock, begin, isExceededBy } = aLimit()
  begin(4)
  clock.nowMs += 10_000
  clock.stalledMs += 9_500
  expect(isExceededBy(unknown)).toBe(false)
  clock.nowMs += 500
  expect(isExceededBy(unknown)).toBe(true)
})

test('a slow result does not show that an endpoint is quick', () => {
  const { limit, clock, begin, isExceededBy } = aLimit()
  begin(4)
  clock.nowMs += 1_000
  limit.recordDuration(aDelivery({ subscriptionId: unknown }), 250)
  expect(isExceededBy(unknown)).toBe(true)
})

test('in any order of starts and ends, an unknown endpoint exceeds the limit exactly while more POSTs hang than are allowed', () => {
  const step = fc.record({ ends: fc.boolean(), at: fc.nat({ max: 20 }), passMs: fc.nat({ max: 600 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { clock, begin, isExceededBy } = aLimit()
      const posts: (Post & { readonly startedAtMs: number })[] = []
      for (const { ends, at, passMs } of steps) {
        clock.nowMs += passMs
        if (ends) for (const { end } of posts.splice(at % Math.max(1, posts.length), 1)) end()
        else posts.push(...begin(1).map(({ end }) => ({ end, startedAtMs: clock.nowMs })))
        const hanging = posts.filter(({ startedAtMs }) => clock.nowMs - startedAtMs >= 1_000)
        expect(isExceededBy(unknown)).toBe(hanging.length > MOST_HANGING)
      }
    }),
  )
})
