import { type Attempt, type Delivery, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { anAttempt } from '@switchhook/servicekit'
import type { Contact, Endpoint } from '@switchhook/store'
import { createContacts } from './contacts.ts'
import { notifyAll } from './observer.ts'

const AT = '2026-01-01T00:00:00.000Z'
const attempt = (change: Partial<Attempt> = {}): Attempt => anAttempt({ at: AT, durationMs: 25.4, ...change })
const failed = (at: string): Attempt => attempt({ at, outcome: 'answered', status: 503 })
const acknowledged = { kind: 'acknowledged' } as const
const ok = { kind: 'delivered', status: 204 } as const

function aWorld(record?: () => Promise<void>) {
  const written: [Endpoint, Contact][] = []
  const lost: unknown[] = []
  const contacts = createContacts(
    { record: record ?? (async (endpoint, contact) => void written.push([endpoint, contact])) },
    { debug: (_message, fields) => void lost.push(fields) },
  )
  const reported: unknown[] = []
  const { concluded } = notifyAll([contacts.observer, { concluded: (delivery) => void reported.push(delivery) }])
  const conclude = (subscriptionId: SubscriptionId, made: Attempt | null): void =>
    concluded({ tenant: 'acme', subscriptionId } as Delivery, made, acknowledged, ok)
  return { contacts, written, lost, reported, conclude }
}

test('thousands of endpoints are written once each, at most 200 at a time', async () => {
  let [inFlight, most, writes] = [0, 0, 0]
  const { contacts, conclude } = aWorld(async () => {
    most = Math.max(most, ++inFlight)
    writes += 1
    await new Promise(setImmediate)
    inFlight -= 1
  })
  for (let n = 0; n < 1_000; n++) conclude(newSubscriptionId(), attempt())
  await contacts.flush()
  expect([writes, most]).toEqual([1_000, 200])
})

test('only the latest success and the latest failure of each endpoint are written', async () => {
  const { contacts, written, reported, conclude } = aWorld()
  const [one, other] = [newSubscriptionId(), newSubscriptionId()]
  conclude(one, attempt({ at: '2026-01-01T00:00:02.000Z' }))
  conclude(one, attempt())
  conclude(one, failed('2026-01-01T00:00:01.000Z'))
  conclude(one, attempt({ outcome: 'timeout', status: null }))
  conclude(other, attempt())
  conclude(other, null)
  expect(written).toEqual([])
  await contacts.flush()
  const atMs = Date.parse(AT) + 25
  expect(written).toEqual([
    [
      { tenant: 'acme', subscriptionId: one },
      { successAtMs: atMs + 2_000, failureAtMs: atMs + 1_000, failure: { outcome: 'answered', status: 503 } },
    ],
    [
      { tenant: 'acme', subscriptionId: other },
      { successAtMs: atMs, failureAtMs: null, failure: null },
    ],
  ])
  expect(reported).toHaveLength(6)
  await contacts.flush()
  expect(written).toHaveLength(2)
})

test('contacts are written with the flush; a store that is away delays nothing', async () => {
  const { contacts, written, conclude } = aWorld()
  conclude(newSubscriptionId(), attempt())
  await contacts.flush()
  expect(written).toHaveLength(1)
  const away = aWorld(() => Promise.reject(new Error('away')))
  away.conclude(newSubscriptionId(), attempt())
  await away.contacts.flush()
  expect(away.lost).toEqual([{ endpoints: 1 }])
})
