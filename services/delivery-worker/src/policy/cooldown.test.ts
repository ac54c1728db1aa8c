import { type Delivery, newSubscriptionId, type Outcome } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Before } from '../pipeline/deliver.ts'
import { createBreaker } from './cooldown.ts'

const ok: Outcome = { kind: 'delivered', status: 204 }
const refused: Outcome = { kind: 'answered', status: 404 }
const down: Outcome = { kind: 'unreachable', reason: 'refused' }
const before = (consecutiveFailures: number, state: EndpointHealth['state'] = 'closed'): Before => ({
  health: { state, consecutiveFailures, openUntilMs: null },
  probe: state === 'probing' ? 'the probe' : undefined,
})

function aBreaker() {
  const notes: string[] = []
  const openedFor: string[] = []
  const told: string[] = []
  const breaker = createBreaker(
    {
      claimProbe: async () => 'the probe',
      noteFailure: async (_endpoint, probe) => {
        notes.push(`failure ${probe ?? ''}`.trim())
        return notes.length === 2
      },
      noteAnswer: async () => void notes.push('answer'),
    },
    1_000,
    (subscriptionId) => openedFor.push(subscriptionId),
    {
      failing: async () => void told.push(`failing after ${notes.length}`),
      recovered: async () => void told.push(`recovered after ${notes.length}`),
    },
  )
  return { breaker, notes, openedFor, told }
}

const aDelivery = (): Delivery => ({ tenant: 'acme', subscriptionId: newSubscriptionId() }) as Delivery

test('an answer of an endpoint that is well costs nothing', async () => {
  const { breaker, notes } = aBreaker()
  await breaker.note(aDelivery(), ok, before(0))
  await breaker.note(aDelivery(), refused, before(0))
  expect(notes).toEqual([])
})

test.each([
  ['it delivers', ok],
  ['it refuses', refused],
])('an endpoint that has failed begins anew when %s', async (_name, outcome) => {
  const { breaker, notes } = aBreaker()
  await breaker.note(aDelivery(), outcome, before(1))
  expect(notes).toEqual(['answer'])
})

test('a probe that is answered closes', async () => {
  const { breaker, notes } = aBreaker()
  await breaker.note(aDelivery(), ok, before(5, 'probing'))
  expect(notes).toEqual(['answer'])
})

test('an answer to what was sent before this worker saw the endpoint fail counts, once', async () => {
  const { breaker, notes } = aBreaker()
  const delivery = aDelivery()
  await breaker.note(delivery, down, before(0))
  await breaker.note(aDelivery(), ok, before(0))
  await breaker.note(delivery, ok, before(0))
  await breaker.note(delivery, ok, before(0))
  expect(notes).toEqual(['failure', 'answer'])
})

test('a failure counts, with its probe, and whoever opens it is told', async () => {
  const { breaker, notes, openedFor } = aBreaker()
  const delivery = aDelivery()
  await breaker.note(delivery, down, before(0))
  expect(openedFor).toEqual([])
  await breaker.note(delivery, down, before(4, 'probing'))
  expect(notes).toEqual(['failure', 'failure the probe'])
  expect(openedFor).toEqual([delivery.subscriptionId])
})

test('an outage is told with each cool-down that begins, its end before the breaker forgets it, and nothing else', async () => {
  const { breaker, told } = aBreaker()
  const delivery = aDelivery()
  await breaker.note(aDelivery(), ok, before(0))
  await breaker.note(delivery, down, before(0))
  expect(told).toEqual([])
  await breaker.note(delivery, down, before(1))
  await breaker.note(delivery, ok, before(5, 'probing'))
  expect(told).toEqual(['failing after 2', 'recovered after 2'])
})
