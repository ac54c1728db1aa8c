import type { Delivery } from '@switchhook/contracts'
import { decide } from './decide.ts'

/** The defaults of DELIVERY_RETRY_WAITS, BREAKER_COOLDOWN and BREAKER_FAILURES. Times are in seconds; a step is one second. */
const WAITS_S = [10, 60, 300, 1_800, 7_200, 14_400, 21_600]
const COOLDOWN_S = 30
const FAILURES = 5
const SCHEDULE = { waitsMs: WAITS_S.map((waitS) => waitS * 1_000), cooldownMs: COOLDOWN_S * 1_000 }
const HOUR_S = 3_600
/** The time between two deliveries. */
const ARRIVE_S = 4

const SCHEDULE_S = WAITS_S.reduce((sum, waitS) => sum + waitS, 0)
/** 30 s, 1 min, 5 min, 30 min, 2 h and 4 h: the first sum that is not less than the longest wait. */
const POSTPONED_S = 30 + 60 + 300 + 1_800 + 7_200 + 14_400

type Waiting = Pick<Delivery, 'slot' | 'attempt' | 'postponed'>

/**
 * Simulates a delivery every four seconds with the worker's own rules and a virtual clock. The endpoint is dead until
 * `repairedAtS`; a failed POST takes `postS`. The breaker follows record-failure.lua and claim-probe.lua.
 */
function simulate({ arrivalsS, repairedAtS, postS }: { arrivalsS: number; repairedAtS: number; postS: number }) {
  const queues = new Map<number, { dueAtS: number; delivery: Waiting }[]>()
  const heads = new Map<number, number>()
  const posts: { endsAtS: number; delivery: Waiting; isProbe: boolean }[] = []
  const breaker = { failures: 0, openUntilS: undefined as number | undefined, isProbing: false }
  const count = { waiting: 0, delivered: 0, parked: 0, parkedWithoutPost: 0, handled: 0 }
  const mostWaiting: number[] = []
  let lastEndedAtS = 0

  function wait(delivery: Waiting, nowS: number, waitMs: number): void {
    const queue = queues.get(waitMs) ?? []
    queues.set(waitMs, queue)
    queue.push({ dueAtS: nowS + waitMs / 1_000, delivery })
    count.waiting += 1
  }

  function end(kind: 'delivered' | 'parked', nowS: number): void {
    count[kind] += 1
    lastEndedAtS = nowS
  }

  function conclude(delivery: Waiting, outcome: Parameters<typeof decide>[0], nowS: number): void {
    const decision = decide(outcome, delivery, SCHEDULE)
    if (decision.kind === 'retry' || decision.kind === 'postpone') {
      const { slot, postponed = 0, waitMs } = decision
      wait({ slot, attempt: delivery.attempt, postponed }, nowS, waitMs)
    } else if (decision.kind === 'park') {
      end('parked', nowS)
      if (outcome.kind === 'cooling') count.parkedWithoutPost += 1
    } else end('delivered', nowS)
  }

  function due(delivery: Waiting, nowS: number): void {
    const { openUntilS } = breaker
    const isClosed = openUntilS === undefined
    const isProbe = !isClosed && openUntilS <= nowS && !breaker.isProbing
    if (isClosed || isProbe) {
      if (isProbe) breaker.isProbing = true
      const post = { endsAtS: nowS + (nowS < repairedAtS ? postS : 0), delivery, isProbe }
      // An answer takes far less than a second, so what else falls due in this one knows of it.
      if (post.endsAtS <= nowS) endPost(post, nowS)
      else posts.push(post)
    } else {
      conclude(delivery, { kind: 'cooling', isProbing: openUntilS <= nowS }, nowS)
    }
  }

  function endPost({ delivery, isProbe }: (typeof posts)[number], nowS: number): void {
    const made = { ...delivery, attempt: delivery.attempt + 1 }
    if (nowS >= repairedAtS) {
      breaker.openUntilS = undefined
      breaker.isProbing = false
      conclude(made, { kind: 'delivered', status: 204 }, nowS)
      return
    }
    if (breaker.openUntilS === undefined || isProbe) {
      breaker.failures += 1
      if (isProbe || breaker.failures >= FAILURES) {
        breaker.openUntilS = nowS + COOLDOWN_S
        breaker.isProbing = false
      }
    }
    conclude(made, { kind: 'unreachable', reason: 'timeout' }, nowS)
  }

  for (let nowS = 0; nowS < arrivalsS || count.waiting + posts.length > 0; nowS++) {
    if (nowS > arrivalsS + 72 * HOUR_S) break
    if (nowS < arrivalsS && nowS % ARRIVE_S === 0) due({ slot: 0, attempt: 0 }, nowS)
    for (const [waitMs, queue] of queues) {
      let head = heads.get(waitMs) ?? 0
      for (; (queue[head]?.dueAtS ?? Infinity) <= nowS; head++) {
        count.waiting -= 1
        count.handled += 1
        due((queue[head] as { delivery: Waiting }).delivery, nowS)
      }
      heads.set(waitMs, head)
    }
    for (const post of posts.splice(0)) {
      if (post.endsAtS <= nowS) endPost(post, nowS)
      else posts.push(post)
    }
    const hour = Math.floor(nowS / HOUR_S)
    mostWaiting[hour] = Math.max(mostWaiting[hour] ?? 0, count.waiting + posts.length)
  }
  return { ...count, mostWaiting, lastEndedAtS }
}

const ARRIVALS_S = 48 * HOUR_S
const ARRIVALS = ARRIVALS_S / ARRIVE_S
/** The number of deliveries that arrive in this time. */
const arrivingIn = (seconds: number): number => Math.ceil(seconds / ARRIVE_S)

test('48 hours of a delivery every four seconds for a dead endpoint: none waits for more than 19 h 13 min and two minutes for probes, and all are parked', () => {
  // The endpoint refuses connections, or hangs until the deadline.
  for (const postS of [0, 10]) {
    const { waiting, delivered, parked, parkedWithoutPost, handled, mostWaiting, lastEndedAtS } = simulate({
      arrivalsS: ARRIVALS_S,
      repairedAtS: Number.POSITIVE_INFINITY,
      postS,
    })
    expect(Math.max(...mostWaiting)).toBeLessThanOrEqual(arrivingIn(SCHEDULE_S + POSTPONED_S + 120))
    // The number of waiting deliveries is stable once the first ones have been parked.
    expect(mostWaiting[47]).toBeLessThanOrEqual((mostWaiting[24] ?? 0) * 1.001)
    expect({ waiting, delivered, parked }).toEqual({ waiting: 0, delivered: 0, parked: ARRIVALS })
    expect(lastEndedAtS - ARRIVALS_S).toBeLessThanOrEqual(SCHEDULE_S + POSTPONED_S + 120)
    // The number that probes alone could park.
    expect(parked - parkedWithoutPost).toBeLessThan(10_000)
    // Seven retries and six postponements; at a hanging endpoint some wait more often, because its probe is in flight.
    expect(handled / parked).toBeLessThanOrEqual(postS === 0 ? 13 : 15)
  }
})

test('a dead endpoint that recovers gets every waiting delivery', () => {
  for (const hours of [1, 30]) {
    const repairedAtS = hours * HOUR_S
    const { waiting, delivered, parked, mostWaiting, lastEndedAtS } = simulate({
      arrivalsS: ARRIVALS_S,
      repairedAtS,
      postS: 0,
    })
    expect({ waiting, ended: delivered + parked }).toEqual({ waiting: 0, ended: ARRIVALS })
    expect(parked).toBeLessThanOrEqual(arrivingIn(Math.max(0, repairedAtS - SCHEDULE_S)))
    expect(delivered).toBeGreaterThanOrEqual((mostWaiting[hours] ?? 0) - arrivingIn(60))
    // The longest wait is the last one.
    expect(lastEndedAtS).toBeLessThanOrEqual(Math.max(repairedAtS + 6 * HOUR_S, ARRIVALS_S) + 60)
  }
})
