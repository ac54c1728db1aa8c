import { type Delivery, newSubscriptionId, type Outcome, type Postponement } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import fc from 'fast-check'
import { type Before, createBreaker, isPostponedLongEnough, postponedBy, postponeMs } from './cooldown.ts'

const ok: Outcome = { kind: 'delivered', status: 204 }
const rejected: Outcome = { kind: 'answered', status: 404 }
const down: Outcome = { kind: 'unreachable', reason: 'refused' }
const before = (consecutiveFailures: number, state: EndpointHealth['state'] = 'closed'): Before => ({
  health: { state, consecutiveFailures, openUntilMs: null },
  probe: state === 'probing' ? 'the probe' : undefined,
})

function aBreaker() {
  const notes: string[] = []
  const openedFor: string[] = []
  const notices: string[] = []
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
      failing: async () => void notices.push(`failing after ${notes.length}`),
      recovered: async () => void notices.push(`recovered after ${notes.length}`),
    },
  )
  return { breaker, notes, openedFor, notices }
}

const aDelivery = (): Delivery => ({ tenant: 'acme', subscriptionId: newSubscriptionId() }) as Delivery

test('an answer from a healthy endpoint writes nothing', async () => {
  const { breaker, notes } = aBreaker()
  await breaker.note(aDelivery(), ok, before(0))
  await breaker.note(aDelivery(), rejected, before(0))
  expect(notes).toEqual([])
})

test.each([
  ['acknowledges', ok],
  ['rejects', rejected],
])('the failure count is reset when an endpoint %s', async (_name, outcome) => {
  const { breaker, notes } = aBreaker()
  await breaker.note(aDelivery(), outcome, before(1))
  expect(notes).toEqual(['answer'])
})

test('an answered probe closes the breaker', async () => {
  const { breaker, notes } = aBreaker()
  await breaker.note(aDelivery(), ok, before(5, 'probing'))
  expect(notes).toEqual(['answer'])
})

test('an answer to a POST that began before this worker saw the endpoint fail is written, once', async () => {
  const { breaker, notes } = aBreaker()
  const delivery = aDelivery()
  await breaker.note(delivery, down, before(0))
  await breaker.note(aDelivery(), ok, before(0))
  await breaker.note(delivery, ok, before(0))
  await breaker.note(delivery, ok, before(0))
  expect(notes).toEqual(['failure', 'answer'])
})

test('a failure is counted with its probe, and the start of a cool-down is reported', async () => {
  const { breaker, notes, openedFor } = aBreaker()
  const delivery = aDelivery()
  await breaker.note(delivery, down, before(0))
  expect(openedFor).toEqual([])
  await breaker.note(delivery, down, before(4, 'probing'))
  expect(notes).toEqual(['failure', 'failure the probe'])
  expect(openedFor).toEqual([delivery.subscriptionId])
})

test('each cool-down triggers the failing notice; the recovered notice precedes the closing of the breaker', async () => {
  const { breaker, notices } = aBreaker()
  const delivery = aDelivery()
  await breaker.note(aDelivery(), ok, before(0))
  await breaker.note(delivery, down, before(0))
  expect(notices).toEqual([])
  await breaker.note(delivery, down, before(1))
  await breaker.note(delivery, ok, before(5, 'probing'))
  expect(notices).toEqual(['failing after 2', 'recovered after 2'])
})

test('this worker knows that an endpoint fails from its failure until its next answer', async () => {
  const { breaker } = aBreaker()
  const delivery = aDelivery()
  expect(breaker.isFailing(delivery)).toBe(false)
  await breaker.note(delivery, down, before(0))
  expect([breaker.isFailing(delivery), breaker.isFailing(aDelivery())]).toEqual([true, false])
  await breaker.note(delivery, ok, before(1))
  expect(breaker.isFailing(delivery)).toBe(false)
})

describe('a postponed last slot', () => {
  const WAITS_MS = [10_000, 60_000, 300_000]
  const FIRST_MS = 1_800_000_000_000

  test.each<[string, Postponement | undefined, number, readonly number[], boolean]>([
    ['was never postponed', undefined, FIRST_MS, WAITS_MS, false],
    [
      'waited for less than the longest wait',
      { waitedMs: 299_999, openUntilMs: FIRST_MS },
      FIRST_MS + 1,
      WAITS_MS,
      false,
    ],
    ['waited as long as the longest wait', { waitedMs: 300_000, openUntilMs: FIRST_MS }, FIRST_MS + 1, WAITS_MS, true],
    [
      'waited as long, without a failure since',
      { waitedMs: 300_000, openUntilMs: FIRST_MS },
      FIRST_MS,
      WAITS_MS,
      false,
    ],
    // Redis' clock was set back, or another Redis node became the master.
    [
      'waited as long, for a cool-down that now ends earlier',
      { waitedMs: 300_000, openUntilMs: FIRST_MS },
      5,
      WAITS_MS,
      true,
    ],
    [
      'waited one cool-down, without any wait in the schedule',
      { waitedMs: 1, openUntilMs: FIRST_MS },
      FIRST_MS + 1,
      [],
      true,
    ],
  ])('a last slot that %s: long enough?', (_what, postponement, openUntilMs, waitsMs, expected) => {
    const delivery = postponement === undefined ? {} : { postponement }
    expect(isPostponedLongEnough(delivery, openUntilMs, waitsMs)).toBe(expected)
  })

  test('a postponement adds up its waits and keeps the cool-down it began in', () => {
    const first = postponedBy(30_000, {}, FIRST_MS)
    expect(postponedBy(60_000, { postponement: first }, FIRST_MS + 1)).toEqual({
      waitedMs: 90_000,
      openUntilMs: FIRST_MS,
    })
  })

  const anyWaitMs = fc.integer({ min: 1, max: 86_400_000 })

  test('the last slot for an endpoint that keeps failing waits less than the two longest waits, from any postponement count', () => {
    fc.assert(
      fc.property(
        fc.array(anyWaitMs, { maxLength: 12 }),
        anyWaitMs,
        fc.nat({ max: 20 }),
        (waitsMs, cooldownMs, before) => {
          const longestMs = Math.max(0, ...waitsMs)
          let postponement: Postponement | undefined
          for (let postponed = before; ; postponed++) {
            const delivery = postponement === undefined ? {} : { postponement }
            if (isPostponedLongEnough(delivery, FIRST_MS + postponed, waitsMs)) break
            postponement = postponedBy(postponeMs(postponed, waitsMs, cooldownMs), delivery, FIRST_MS + postponed)
          }
          expect(postponement?.waitedMs).toBeGreaterThanOrEqual(longestMs)
          expect(postponement?.waitedMs).toBeLessThan(longestMs + Math.max(longestMs, cooldownMs) + 1)
        },
      ),
    )
  })
})
