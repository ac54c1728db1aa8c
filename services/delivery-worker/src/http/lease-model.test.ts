import {
  type EventType,
  isLeaseValid,
  olderLeasesEndAt,
  SUBSCRIPTION_LEASE_MARGIN_MS,
  type Subscription,
  Unavailable,
} from '@switchhook/contracts'
import { aDelivery, aSubscription } from '@switchhook/testkit'
import fc from 'fast-check'
import { createAdmit } from '../endpoint/admit.ts'
import { HEALTHY } from '../testing/delivering.ts'
import { createPostUnderLease } from './post-under-lease.ts'

/**
 * A model of workers and api with virtual time. The worker's own rules (`admit`, `post-under-lease`, the lease) run against
 * a store, connections and an api whose steps take arbitrary times. The proof in `subscription-lease.ts` must hold for all
 * of them.
 */
interface Rules {
  /** The worker checks the lease before it writes. */
  readonly hasCheck: boolean
  /** The api waits before it answers. */
  readonly hasWait: boolean
  /** The lease begins when the worker asks, not when the reply arrives. */
  readonly beginsBeforeAsking: boolean
}

const AS_BUILT: Rules = { hasCheck: true, hasWait: true, beginsBeforeAsking: true }
const URL_BEFORE = 'https://client.example/before'
const URL_AFTER = 'https://client.example/after'
const SUBSCRIPTION = aSubscription({ url: URL_BEFORE, eventTypes: ['call.status', 'agent.status'] })
const { id } = SUBSCRIPTION

interface Written {
  readonly atMs: number
  readonly url: string
  readonly eventType: string
}

/** The changes that take something away, and the first attempts that the answer to each rules out. */
const CHANGES = {
  delete: { apply: () => undefined, rulesOut: () => true },
  disable: { apply: (s: Subscription) => ({ ...s, enabled: false }), rulesOut: () => true },
  narrow: {
    apply: (s: Subscription) => ({ ...s, eventTypes: ['agent.status' as const] }),
    rulesOut: ({ eventType }: Written) => eventType === 'call.status',
  },
  move: {
    apply: (s: Subscription) => ({ ...s, url: URL_AFTER }),
    rulesOut: ({ url }: Written) => url === URL_BEFORE,
  },
} satisfies Record<
  string,
  { apply: (s: Subscription) => Subscription | undefined; rulesOut: (written: Written) => boolean }
>

const ms = (max: number) => fc.nat({ max })
/** Durations of the repetitions of one step. The last one is used for all further repetitions. */
const durations = (max: number) => fc.array(ms(max), { minLength: 1, maxLength: 4 })

const next = (list: readonly number[], count: number): number => list[Math.min(count, list.length - 1)] ?? 0

const MAX_REPLY_MS = 300

const deliveryArbitrary = fc.record({
  startMs: ms(1_200),
  eventType: fc.constantFrom<EventType>('call.status', 'agent.status'),
  askMs: durations(300),
  replyMs: durations(MAX_REPLY_MS),
  connectMs: durations(900),
  // Covered by the margin: the write itself and any pause of the process before it.
  checkToWriteMs: ms(SUBSCRIPTION_LEASE_MARGIN_MS),
  breaksOnReuse: fc.boolean(),
})
const changeArbitrary = fc.record({
  kind: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
  startMs: ms(1_200),
  askMs: ms(200),
  replyMs: ms(200),
})
const runArbitrary = fc.record({
  deliveries: fc.array(deliveryArbitrary, { minLength: 1, maxLength: 4 }),
  changes: fc.array(changeArbitrary, { minLength: 1, maxLength: 3 }),
})
type Run = typeof runArbitrary extends fc.Arbitrary<infer R> ? R : never
type DeliveryRun = Run['deliveries'][number]
type ChangeRun = Run['changes'][number]

function createTime() {
  const due: { readonly atMs: number; readonly go: () => void }[] = []
  let nowMs = 0
  return {
    nowMs: () => nowMs,
    pass: (durationMs: number) => new Promise<void>((go) => void due.push({ atMs: nowMs + durationMs, go })),
    async runOut() {
      for (;;) {
        // Runs everything that does not wait for the clock up to its next wait.
        await new Promise(setImmediate)
        const [next] = due.toSorted((a, b) => a.atMs - b.atMs)
        if (next === undefined) return
        due.splice(due.indexOf(next), 1)
        nowMs = next.atMs
        next.go()
      }
    },
  }
}

/** Resolves to the first attempts that were written after an answer that rules them out. */
async function lateWrites({ deliveries, changes }: Run, rules: Rules): Promise<Written[]> {
  const time = createTime()
  let stored: Subscription | undefined = SUBSCRIPTION
  const written: Written[] = []
  const answers: { readonly atMs: number; readonly rulesOut: (written: Written) => boolean }[] = []

  /** The rest of each delivery's durations of a read, by delivery id. */
  const looksOf = new Map<string, Pick<DeliveryRun, 'askMs' | 'replyMs'> & { asked: number }>()
  // One worker: its deliveries share their reads.
  const admit = createAdmit({
    readEndpoint: async ({ deliveryId }) => {
      const { askMs, replyMs, asked } = looksOf.get(deliveryId) ?? { askMs: [], replyMs: [], asked: 0 }
      looksOf.set(deliveryId, { askMs, replyMs, asked: asked + 1 })
      await time.pass(next(askMs, asked))
      const subscription = stored
      await time.pass(next(replyMs, asked))
      return { health: HEALTHY, subscription }
    },
    isFailing: () => false,
    canSign: () => true,
    findRemoved: async () => undefined,
    redisNow: Date.now,
    // A lease that begins with a late reply is the mistake that one of the tests makes.
    nowMs: () => time.nowMs() + (rules.beginsBeforeAsking ? 0 : MAX_REPLY_MS),
  })

  async function deliver(run: DeliveryRun): Promise<void> {
    let connected = 0
    const postUnderLease = createPostUnderLease({
      startDeadline: () => {
        const endsAtMs = time.nowMs() + 10_000
        return {
          get hasPassed() {
            return time.nowMs() >= endsAtMs
          },
          whenPassed: () => {},
          stop: () => {},
        }
      },
      writeWithin: async ({ url, eventType }, _attempt, { trustedUntilMs, replayOf }) => {
        await time.pass(next(run.connectMs, connected++))
        if (rules.hasCheck && !isLeaseValid(trustedUntilMs, time.nowMs())) return { kind: 'lease-expired' }
        await time.pass(run.checkToWriteMs)
        written.push({ atMs: time.nowMs(), url, eventType })
        return run.breaksOnReuse && replayOf === undefined
          ? { kind: 'broken', outcome: { kind: 'unreachable', reason: 'reset' } }
          : { kind: 'delivered', status: 204 }
      },
      renew: admit,
      wait: time.pass,
      nowMs: time.nowMs,
    })

    await time.pass(run.startMs)
    const due = aDelivery({ subscriptionId: id, eventType: run.eventType, url: URL_BEFORE })
    looksOf.set(due.deliveryId, { ...run, asked: 0 })
    const { admission, trustedUntilMs } = await admit(due)
    if (admission.kind !== 'admitted') return
    // Rejects if the store is too slow for a lease; the message then comes back.
    await postUnderLease(admission.delivery, 1, trustedUntilMs).catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error
    })
  }

  async function change({ kind, startMs, askMs, replyMs }: ChangeRun): Promise<void> {
    const { apply, rulesOut } = CHANGES[kind]
    await time.pass(startMs + askMs)
    if (stored !== undefined) stored = apply(stored)
    await time.pass(replyMs)
    const storedAtMs = time.nowMs()
    if (rules.hasWait) await time.pass(olderLeasesEndAt(storedAtMs) - storedAtMs)
    answers.push({ atMs: time.nowMs(), rulesOut })
  }

  const all = Promise.all([...deliveries.map(deliver), ...changes.map(change)])
  await time.runOut()
  await all
  return written.filter((one) => answers.some(({ atMs, rulesOut }) => one.atMs >= atMs && rulesOut(one)))
}

const neverLate = (rules: Rules) =>
  fc.asyncProperty(runArbitrary, async (run) => (await lateWrites(run, rules)).length === 0)

test('no first attempt is written after the answer that rules it out, however long each step takes', async () => {
  await fc.assert(neverLate(AS_BUILT), { numRuns: 500 })
})

test.each<[string, Partial<Rules>]>([
  ['the check before the write', { hasCheck: false }],
  ['the wait before the answer', { hasWait: false }],
  ['the beginning of the lease before the question', { beginsBeforeAsking: false }],
])('without %s, a first attempt is written too late', async (_name, change) => {
  const { failed } = await fc.check(neverLate({ ...AS_BUILT, ...change }), { numRuns: 1_000, endOnFailure: true })
  expect(failed).toBe(true)
})
