import type { Attempt, Delivery, Tenant } from '@switchhook/contracts'
import { anAttempt, aReportedDelivery } from '@switchhook/servicekit'
import type { Decision } from '../policy/decide.ts'
import { createLiveAttempts, liveAttemptOf } from './live-attempts.ts'

const delivery = aReportedDelivery({ callId: 'c-1', agentUri: 'sip:alice@acme.example', state: 3 })
const { deliveryId, subscriptionId, eventId } = delivery
const attempt = anAttempt({ durationMs: 42, outcome: 'answered', status: 503, answer: 'back at noon' })

function reports(publish: (tenant: Tenant) => Promise<void> = () => Promise.resolve()) {
  const published: { readonly tenant: Tenant; readonly attempts: number; readonly left: number }[] = []
  const debug: string[] = []
  const live = createLiveAttempts(
    {
      publish: (tenant, attempts, left) => {
        published.push({ tenant, attempts: attempts.length, left })
        return publish(tenant)
      },
    },
    { debug: (message) => void debug.push(message) },
  )
  const conclude = (change: Partial<Delivery> = {}, made: Attempt | null = attempt): void =>
    live.observer.concluded({ ...delivery, ...change }, made, { kind: 'acknowledged' }, { kind: 'withdrawn' })
  return { live, published, debug, conclude }
}

test.each<[Decision, string]>([
  [{ kind: 'acknowledged' }, 'acknowledged'],
  [{ kind: 'retry', slot: 1, waitMs: 10_000 }, 'waiting'],
  [{ kind: 'postpone', slot: 7, waitMs: 30_000 }, 'waiting'],
  [{ kind: 'park', reason: 'rejected' }, 'parked'],
  [{ kind: 'withdrawn' }, 'withdrawn'],
])('after the decision %j the stream shows the state %s', (decision, state) => {
  expect(liveAttemptOf(delivery, attempt, decision)).toEqual({
    deliveryId,
    subscriptionId,
    eventId,
    eventType: 'call.status',
    callId: 'c-1',
    agentUri: 'sip:alice@acme.example',
    attempt: 1,
    at: attempt.at,
    outcome: 'answered',
    status: 503,
    durationMs: 42,
    state,
  })
})

test('attempts are published only for tenants with a listener, and only POSTs', async () => {
  const { live, published, conclude } = reports()
  live.setListened('acme', true)
  live.setListened('globex', true)
  live.setListened('globex', false)
  conclude()
  conclude({}, null)
  conclude({ tenant: 'globex' })
  conclude({ tenant: null })
  await live.flush()
  await live.flush()
  expect(published).toEqual([{ tenant: 'acme', attempts: 1, left: 0 }])
})

test('a burst is cut, and the rest is counted', async () => {
  const { live, published, conclude } = reports()
  live.setListened('acme', true)
  for (let i = 0; i < 250; i++) conclude()
  await live.flush()
  conclude()
  await live.flush()
  expect(published).toEqual([
    { tenant: 'acme', attempts: 200, left: 50 },
    { tenant: 'acme', attempts: 1, left: 0 },
  ])
})

test('a delivery whose body is not an event loses its report without an error', async () => {
  const { live, debug, conclude } = reports()
  live.setListened('acme', true)
  conclude({ body: Buffer.from('not JSON') })
  await live.flush()
  expect(debug).toEqual(['attempts were not published to the live stream'])
})

test('attempts that cannot be published are lost without an error', async () => {
  const { live, debug, conclude } = reports(() => Promise.reject(new Error('Redis is away')))
  live.setListened('acme', true)
  conclude()
  await live.flush()
  expect(debug).toEqual(['attempts were not published to the live stream'])
})

test('attempts with large bodies are written before more than 4 MB of them are held', async () => {
  const { live, published, conclude } = reports()
  live.setListened('acme', true)
  const body = Buffer.concat([delivery.body, Buffer.alloc(256 * 1024, ' ')])
  for (let n = 0; n < 16; n++) conclude({ body })
  expect(published).toEqual([{ tenant: 'acme', attempts: 16, left: 0 }])
  await live.flush()
})
