import type { Delivery, Outcome } from '@switchhook/contracts'
import type { Deadline } from '@switchhook/runtime'
import { aDelivery, aSubscription } from '@switchhook/testkit'
import type { Reading } from '../endpoint/admit.ts'
import { aReading, posted } from '../testing/delivering.ts'
import {
  type Broken,
  createPostUnderLease,
  type PostTerms,
  type TakePermit,
  type Unfinished,
} from './post-under-lease.ts'

const TIMEOUT_MS = 1_000
/** After any time. */
const postedTo = (delivery: Delivery, outcome: Outcome): unknown => ({
  ...posted(delivery, outcome),
  durationMs: expect.any(Number) as unknown,
})
const first = aDelivery()
const moved: Delivery = { ...first, url: 'https://client.example/moved' }
const ok: Outcome = { kind: 'delivered', status: 204 }
const reset: Outcome = { kind: 'unreachable', reason: 'reset' }
const expired: Unfinished = { kind: 'lease-expired' }
const broken: Broken = { kind: 'broken', outcome: reset }

/** A deadline that passes at `TIMEOUT_MS` of this clock. */
const deadlineOn = (clockMs: () => number): Deadline => ({
  get hasPassed() {
    return clockMs() >= TIMEOUT_MS
  },
  whenPassed: () => {},
  stop: () => {},
})

/** Runs one attempt with these results of its POSTs and renewals. Each POST takes 100 ms, each renewal 10 ms. */
async function post(
  due: Delivery,
  trustedUntilMs: number,
  results: readonly (Outcome | Unfinished)[],
  renewals: readonly Reading[] = [],
  /** Of a subscription with limits: how long each permit is valid, in ms. Then none is free. */
  permitsMs?: readonly number[],
) {
  const sent: { url: string; terms: PostTerms | undefined }[] = []
  let clockMs = 0
  const deadline = deadlineOn(() => clockMs)
  let renewed = 0
  const make = (url: string, terms?: PostTerms): Outcome | Unfinished => {
    clockMs += 100
    sent.push({ url, terms })
    return results[sent.length - 1] ?? ok
  }
  const postUnderLease = createPostUnderLease({
    startDeadline: () => deadline,
    writeWithin: async ({ url }, _attempt, terms) => make(url, terms),
    renew: async () => {
      clockMs += 10
      renewed += 1
      return renewals[renewed - 1] ?? aReading(due, { trustedUntilMs: clockMs + 250 })
    },
    nowMs: () => clockMs,
  })
  const taken: boolean[] = []
  const limits: unknown[] = []
  const take: TakePermit = async (wasWritten, limited) => {
    limits.push(limited?.maxInFlight)
    const validMs = permitsMs?.[taken.push(wasWritten) - 1]
    return validMs === undefined ? undefined : clockMs + validMs
  }
  const result = await postUnderLease(due, due.attempt + 1, trustedUntilMs, { take: permitsMs && take })
  return { posted: result, sent, renewed, deadline, taken, limits }
}

test('a first attempt is posted under its lease without another read while the lease is valid', async () => {
  const { posted, sent, renewed, deadline } = await post(first, 250, [ok])
  expect(posted).toEqual(postedTo(first, ok))
  const terms = { trustedUntilMs: 250, deadline }
  expect(sent).toEqual([{ url: first.url, terms }])
  expect(renewed).toBe(0)
})

test('a retry whose lease ended while it connected is signed with what is valid then', async () => {
  const retry: Delivery = { ...first, slot: 1, attempt: 1 }
  const resigned: Delivery = { ...retry, signing: { id: 'b', secret: 'b', since: first.firstDueAt, former: [] } }
  const { posted } = await post(retry, 50, [expired, ok], [aReading(resigned, { trustedUntilMs: 400 })])
  expect(posted).toEqual(postedTo(resigned, ok))
})

test('a lease that has ended is renewed within the same deadline', async () => {
  const { posted, sent, renewed, deadline } = await post(first, 50, [expired, expired, ok])
  expect(posted).toEqual(postedTo(first, ok))
  expect(sent.map(({ terms }) => terms)).toEqual([
    { trustedUntilMs: 50, deadline },
    { trustedUntilMs: 360, deadline },
    { trustedUntilMs: 470, deadline },
  ])
  expect(renewed).toBe(2)
})

test('a POST takes as long as its endpoint takes of each request, whatever this process waits for', async () => {
  let clockMs = 0
  const steps: string[] = []
  const results = [expired, broken, reset]
  const postUnderLease = createPostUnderLease({
    startDeadline: () => deadlineOn(() => 0),
    writeWithin: async () => {
      steps.push('written')
      clockMs += 20.2
      return results.shift() ?? ok
    },
    renew: async () => {
      clockMs += 5_000
      return aReading(first, { trustedUntilMs: 250 })
    },
    nowMs: () => 0,
    runningMs: () => clockMs,
  })
  const writing = () => {
    steps.push('began')
    return () => void steps.push('ended')
  }
  expect(await postUnderLease(first, 1, 0, { writing })).toEqual(posted(first, reset, 61))
  expect(steps).toEqual(Array.from({ length: 3 }, () => ['began', 'written', 'ended']).flat())
})

test('renewals end with the deadline', async () => {
  const { posted, sent } = await post(
    first,
    50,
    Array.from({ length: 50 }, () => expired),
  )
  expect(posted).toMatchObject({ kind: 'posted', outcome: { kind: 'unreachable', reason: 'timeout' } })
  expect(sent.length).toBeLessThan(11)
})

test('a delivery that its subscription no longer receives is withdrawn instead of sent', async () => {
  const { posted, sent } = await post(first, 50, [expired], [aReading({ kind: 'withdrawn' })])
  expect(posted).toEqual({ kind: 'withdrawn' })
  expect(sent).toHaveLength(1)
})

test('a delivery whose subscription has a new url by then is sent there', async () => {
  const renewals = [aReading(moved, { trustedUntilMs: 400 })]
  const { posted, sent } = await post(first, 50, [expired, reset], renewals)
  expect(posted).toEqual(postedTo(moved, reset))
  expect(sent.map(({ url }) => url)).toEqual([first.url, moved.url])
})

test('a request that broke on a kept connection is replayed once, under the same lease, without another read', async () => {
  const { posted, sent, renewed, deadline } = await post(first, 250, [broken, ok])
  expect(posted).toEqual(postedTo(first, ok))
  const terms = { trustedUntilMs: 250, deadline }
  expect(sent.map((one) => one.terms)).toEqual([terms, { ...terms, replayOf: broken }])
  expect(renewed).toBe(0)
})

describe('a first attempt that broke on a kept connection and whose lease ended before the replay', () => {
  test('is replayed on a fresh connection under the renewed lease', async () => {
    const { posted, sent } = await post(first, 50, [broken, expired, ok])
    expect(posted).toEqual(postedTo(first, ok))
    expect(sent.map(({ terms }) => terms?.replayOf)).toEqual([undefined, broken, broken])
  })

  test('has failed if the subscription is gone, because it was written once', async () => {
    const { posted } = await post(first, 50, [broken], [aReading({ kind: 'withdrawn' })])
    expect(posted).toEqual(postedTo(first, reset))
  })
})

test.each([
  ['first attempt', first],
  ['retry', { ...first, slot: 1, attempt: 1 }],
])(
  'while Redis answers too slowly for a lease, a %s comes back after a few reads, with waits between them',
  async (_what, due) => {
    let clockMs = 0
    let posts = 0
    const steps: string[] = []
    const postUnderLease = createPostUnderLease({
      startDeadline: () => deadlineOn(() => 0),
      writeWithin: async () => {
        posts += 1
        clockMs += 10
        return expired
      },
      renew: async () => {
        if (steps.push('read') > 20) throw new Error('reads on and on')
        const askedAtMs = clockMs
        clockMs += 300
        return aReading(due, { trustedUntilMs: askedAtMs + 250 })
      },
      nowMs: () => clockMs,
      wait: async (ms) => void steps.push(`wait of ${ms} ms`),
    })
    const thrown = expect.objectContaining({ dependency: 'redis', message: expect.stringContaining('slow') as string })
    await expect(postUnderLease(due, due.attempt + 1, 5)).rejects.toEqual(thrown)
    expect(posts).toBe(1)
    expect(steps).toEqual(['read', 'wait of 250 ms', 'read', 'wait of 250 ms', 'read'])
  },
)

test('one late renewal, as after a stall of this process, ends nothing', async () => {
  let clockMs = 0
  const takeMs = [300, 10]
  const postUnderLease = createPostUnderLease({
    startDeadline: () => deadlineOn(() => 0),
    writeWithin: async () => ok,
    renew: async () => {
      const askedAtMs = clockMs
      clockMs += takeMs.shift() ?? 0
      return aReading(first, { trustedUntilMs: askedAtMs + 250 })
    },
    nowMs: () => clockMs,
    wait: async (ms) => void (clockMs += ms),
  })
  expect(await postUnderLease(first, 1, 0)).toEqual(postedTo(first, ok))
})

test('a first attempt that broke has failed although its lease cannot be renewed in time', async () => {
  let clockMs = 0
  const postUnderLease = createPostUnderLease({
    startDeadline: () => deadlineOn(() => clockMs),
    writeWithin: async () => {
      clockMs += 10
      return broken
    },
    renew: async () => {
      clockMs += 300
      return aReading(first, { trustedUntilMs: clockMs - 50 })
    },
    nowMs: () => clockMs,
    wait: async () => {},
  })
  expect(await postUnderLease(first, 1, 5)).toEqual(postedTo(first, reset))
})

test('without Redis the lease cannot be renewed, and the delivery comes back', async () => {
  const postUnderLease = createPostUnderLease({
    startDeadline: () => deadlineOn(() => 0),
    writeWithin: async () => expired,
    renew: () => Promise.reject(new Error('Redis is away')),
    nowMs: () => 0,
  })
  await expect(postUnderLease(first, 1, 50)).rejects.toThrow('Redis is away')
})

describe('a POST of a subscription with limits', () => {
  const retry = { ...first, slot: 1, attempt: 1 }
  const limited = { kind: 'held', visitInMs: 100 }

  test('is not made without a permit', async () => {
    expect(await post(first, 250, [], [], [])).toMatchObject({ posted: limited, sent: [], taken: [false] })
  })

  test.each([first, retry])('is written once, while its permit and its lease are valid', async (due) => {
    const { sent, taken } = await post(due, 250, [ok], [], [100])
    expect(sent.map(({ terms }) => terms)).toMatchObject([{ trustedUntilMs: 100 }])
    expect(taken).toEqual([false])
  })

  test('takes another permit if connecting took longer, and is held if none is free', async () => {
    const { posted, sent, taken } = await post(retry, 250, [expired, expired], [], [100, 100])
    expect(posted).toEqual(limited)
    expect(sent.map(({ terms }) => terms?.trustedUntilMs)).toEqual([100, 210])
    expect(taken).toEqual([false, false, false])
  })

  test('is not made if the subscription got its limits while connecting', async () => {
    const renewed = aReading(first, { limited: aSubscription({ maxInFlight: 1 }), trustedUntilMs: 1_000 })
    expect(await post(first, 50, [expired, ok], [renewed])).toMatchObject({ posted: limited, sent: [{}] })
  })

  test('takes its permit under the limits as they are after the renewal', async () => {
    const renewed = aReading(first, { limited: aSubscription({ maxInFlight: 1 }), trustedUntilMs: 1_000 })
    expect(await post(first, 50, [expired, ok], [renewed], [100, 100])).toMatchObject({ limits: [undefined, 1] })
  })

  test('needs a second permit if it was written to a connection that broke; without one it has failed', async () => {
    const replayed = await post(first, 250, [broken, ok], [], [100, 100])
    expect(replayed).toMatchObject({ posted: { outcome: ok }, taken: [false, true] })
    expect(await post(first, 250, [broken], [], [100])).toMatchObject({
      posted: { outcome: reset },
      taken: [false, true],
    })
  })

  test('takes the second permit after a renewal if its lease has ended meanwhile', async () => {
    const replayed = await post(first, 50, [broken, ok], [], [1_000, 1_000])
    expect(replayed).toMatchObject({ posted: { outcome: ok }, taken: [false, true], renewed: 1 })
  })
})
