import { type Attempt, type Delivery, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { anAttempt } from '@switchhook/servicekit'
import type { Addition } from '@switchhook/store'
import { createStatistics } from './statistics.ts'

const NOW = Date.UTC(2026, 10, 20, 17, 6, 1)
const MINUTE = NOW - 1_000

function aWorld(add?: () => Promise<void>) {
  const written: [string | null, Addition[]][] = []
  const lost: unknown[] = []
  let nowMs = NOW
  const statistics = createStatistics(
    { add: add ?? (async (tenant, additions) => void written.push([tenant, [...additions]])) },
    { debug: (_message, fields) => void lost.push(fields) },
    () => nowMs,
  )
  const body = Buffer.from(`{"deliveryId":"x","occurredAt":"${new Date(NOW - 60).toISOString()}"}`)
  const conclude = (
    subscriptionId: SubscriptionId,
    change: Partial<Attempt> | null = {},
    { tenant = 'acme', isParked = false } = {},
  ): void => {
    const attempt = anAttempt({ at: new Date(NOW - 20).toISOString(), durationMs: 12, ...change })
    const decision = isParked ? ({ kind: 'park', reason: 'exhausted' } as const) : ({ kind: 'acknowledged' } as const)
    const delivery = { tenant, subscriptionId, body } as Delivery
    statistics.observer.concluded(delivery, change === null ? null : attempt, decision, {
      kind: 'delivered',
      status: 204,
    })
  }
  return { statistics, written, lost, conclude, pass: (ms: number) => (nowMs += ms) }
}

const counts = (entries: Record<string, number>) => new Map(Object.entries(entries))

test('attempts are counted by subscription and minute, and summed up for the tenant', async () => {
  const { statistics, written, conclude, pass } = aWorld()
  const [one, other] = [newSubscriptionId(), newSubscriptionId()]
  conclude(one)
  conclude(one, { attempt: 2, outcome: 'answered', status: 503 }, { isParked: true })
  conclude(other)
  pass(60_000)
  conclude(other, { attempt: 2 })
  conclude(one, null)
  conclude(one, null, { isParked: true })
  expect(written).toEqual([])
  await statistics.flush()
  const parked = { '.a': 1, g: 2, J: 1, '.J': 1, '!': 1 }
  expect(written).toEqual([
    [
      'acme',
      [
        { subscriptionId: null, atMs: MINUTE, counts: counts({ ...parked, '.a': 2, g: 3, J: 2 }) },
        { subscriptionId: null, atMs: MINUTE + 60_000, counts: counts({ '.a': 1, g: 1, '!': 1 }) },
        { subscriptionId: one, atMs: MINUTE, counts: counts(parked) },
        { subscriptionId: one, atMs: MINUTE + 60_000, counts: counts({ '!': 1 }) },
        { subscriptionId: other, atMs: MINUTE, counts: counts({ '.a': 1, g: 1, J: 1 }) },
        { subscriptionId: other, atMs: MINUTE + 60_000, counts: counts({ '.a': 1, g: 1 }) },
      ],
    ],
  ])
  await statistics.flush()
  expect(written).toHaveLength(1)
})

test('each tenant is written apart', async () => {
  const { statistics, written, conclude } = aWorld()
  conclude(newSubscriptionId())
  conclude(newSubscriptionId(), {}, { tenant: 'globex' })
  await statistics.flush()
  expect(written.map(([tenant, additions]) => [tenant, additions.length])).toEqual([
    ['acme', 2],
    ['globex', 2],
  ])
})

test('beyond 20,000 endpoints only the tenant is counted', async () => {
  const { statistics, written, conclude } = aWorld()
  for (let n = 0; n < 20_100; n++) conclude(newSubscriptionId())
  await statistics.flush()
  const [[, [sum, ...own]]] = written as [[string, Addition[]]]
  expect(own).toHaveLength(20_000)
  expect(sum?.counts.get('.a')).toBe(20_100)
})

test('what was counted is written with the flush; a store that is away delays nothing', async () => {
  const { statistics, written, conclude } = aWorld()
  conclude(newSubscriptionId())
  await statistics.flush()
  expect(written).toHaveLength(1)
  const away = aWorld(() => Promise.reject(new Error('away')))
  away.conclude(newSubscriptionId())
  await away.statistics.flush()
  expect(away.lost).toEqual([{ tenants: 1 }])
})
