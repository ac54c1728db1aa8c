import { type Attempt, type Delivery, type Outcome, Unavailable } from '@switchhook/contracts'
import { MAX_UNACKED_MS } from '@switchhook/messaging'
import { anAttempt } from '@switchhook/servicekit'
import type { DeliveryRecord } from '@switchhook/store'
import { aDelivery, eventually } from '@switchhook/testkit'
import type { Source } from '../endpoint/isolation.ts'
import { notifyAll } from '../observers/observer.ts'
import type { Withheld } from '../policy/decide.ts'
import {
  aBreaker,
  admitIn,
  anIsolation,
  aReading,
  down,
  type FlatDeps,
  HEALTHY,
  ok,
  oneTurn,
  pipelineDeps,
  posted,
  WRITTEN,
} from '../testing/delivering.ts'
import { type AfterSettled, createPipeline } from './pipeline.ts'
import { mayBeParked } from './progress.ts'
import { createRecoverRejected } from './recover-rejected.ts'

const STARTED_MS = Date.parse('2026-01-01T00:00:00.000Z')

/** What a test replaces of a worker; the observers are called as the real ones decide. */
type Change = Partial<FlatDeps> & {
  readonly noticeParked?: () => Promise<void>
}

/** Records every step in the order of completion. */
function aWorld(outcome: Outcome, change: Change = {}) {
  const steps: string[] = []
  const attempts: (Attempt | null)[] = []
  let clockMs = STARTED_MS
  const { noticeParked, ...others } = change
  const notice: AfterSettled = async (settled) => {
    if (mayBeParked(settled)) await noticeParked?.()
  }
  const deps = {
    post: async (delivery, attempt) => {
      clockMs += 25
      steps.push(`post ${delivery.url} attempt ${attempt}`)
      return posted(delivery, outcome, 25)
    },
    publishRetry: async ({ slot, attempt, postponed: n }, waitMs) =>
      void steps.push(`wait ${waitMs} slot ${slot} attempt ${attempt}${n === undefined ? '' : ` postponed ${n}`}`),
    settle: async ({ slot }, attempt, settlement) => {
      attempts.push(attempt)
      const more =
        settlement.state === 'waiting' ? settlement.nextAttemptAt : settlement.state === 'parked' && settlement.reason
      steps.push(`settle slot ${slot} ${settlement.state}${more ? ` ${more}` : ''}`)
      return WRITTEN
    },
    observer: notifyAll([{ concluded: (_delivery, _attempt, { kind }) => void steps.push(`report ${kind}`) }]),
    afterSettled: [notice],
    redisNow: () => clockMs,
    nowMs: () => clockMs,
    ...others,
  } satisfies Partial<FlatDeps>
  const { deliver: run, conclude } = createPipeline(pipelineDeps(deps))
  const deliver = (due: Delivery, source: Source = 'due'): Promise<void> => run(due, source)
  return { deliver, conclude, deps, steps, attempts }
}

const withholding = (reason: Withheld): Change => ({ admit: async () => aReading(reason) })
const gone = () => Promise.reject(new Unavailable('redis', 'gone'))

describe('deliver', () => {
  const POST = 'post https://client.example/hook attempt'
  const at = (time: string) => `2026-01-01T00:00:${time}Z`

  test.each<[string, Partial<Delivery>, Outcome, Change, readonly string[], unknown]>([
    [
      'a delivered delivery is settled after the POST',
      {},
      ok,
      {},
      [`${POST} 1`, 'settle slot 0 acknowledged', 'report acknowledged'],
      { run: 1, slot: 0, attempt: 1, at: at('00.000'), durationMs: 25, outcome: 'delivered', status: 200 },
    ],
    [
      'a retry is confirmed before the slot is settled',
      {},
      down,
      {},
      [`${POST} 1`, 'wait 10000 slot 1 attempt 1', `settle slot 0 waiting ${at('10.025')}`, 'report retry'],
      { outcome: 'refused' },
    ],
    [
      'a second run continues the attempt counter',
      { run: 2, attempt: 8 },
      ok,
      {},
      [`${POST} 9`, 'settle slot 0 acknowledged', 'report acknowledged'],
      { run: 2, attempt: 9 },
    ],
    [
      'after the last slot a delivery is parked with the attempt, and then its notice is published',
      { slot: 1, attempt: 1 },
      down,
      {},
      [`${POST} 2`, 'settle slot 1 parked exhausted', 'report park', 'notice'],
      { slot: 1, attempt: 2, outcome: 'refused', status: null },
    ],
    [
      'the excerpt of an error answer is stored with the attempt',
      {},
      { kind: 'answered', status: 400, answer: 'no such hook' },
      {},
      [`${POST} 1`, 'settle slot 0 parked rejected', 'report park', 'notice'],
      { outcome: 'answered', status: 400, answer: 'no such hook' },
    ],
    [
      'a settled slot is not POSTed again, and its notice is repeated',
      {},
      ok,
      { isSettled: async () => true },
      ['notice'],
      undefined,
    ],
    [
      'an attempt whose slot a duplicate has settled meanwhile is reported, and what follows is repeated',
      {},
      ok,
      { settle: async () => ({ kind: 'already' }) },
      [`${POST} 1`, 'report acknowledged', 'notice'],
      undefined,
    ],
    [
      'a withdrawn delivery is settled without an attempt',
      {},
      ok,
      withholding({ kind: 'withdrawn' }),
      ['settle slot 0 withdrawn', 'report withdrawn'],
      null,
    ],
    [
      'a first attempt that is withdrawn during connecting counts no attempt',
      {},
      ok,
      { post: async () => ({ kind: 'withdrawn' }) },
      ['settle slot 0 withdrawn', 'report withdrawn'],
      null,
    ],
    [
      'a delivery that cannot be signed waits',
      {},
      ok,
      withholding({ kind: 'unsignable' }),
      ['wait 10000 slot 1 attempt 0', `settle slot 0 waiting ${at('10.000')}`, 'report retry'],
      null,
    ],
    [
      'a last slot that cannot be signed is postponed',
      { slot: 1 },
      ok,
      withholding({ kind: 'unsignable' }),
      ['wait 30000 slot 2 attempt 0', `settle slot 1 waiting ${at('30.000')}`, 'report postpone'],
      null,
    ],
    [
      'an endpoint in its cool-down uses up the slot, and the attempt number stays',
      {},
      ok,
      { admit: admitIn('open') },
      ['wait 10000 slot 1 attempt 0', `settle slot 0 waiting ${at('10.000')}`, 'report retry'],
      null,
    ],
    [
      'an endpoint whose probe another worker makes uses up no slot',
      {},
      ok,
      { admit: admitIn('probing') },
      ['wait 30000 slot 0 attempt 0 postponed 1', `settle slot 0 waiting ${at('30.000')}`, 'report postpone'],
      null,
    ],
    [
      'a last slot is parked at the limit of its postponements',
      { slot: 1, attempt: 1, postponed: 1 },
      ok,
      { admit: admitIn('open') },
      ['settle slot 1 parked exhausted', 'report park', 'notice'],
      null,
    ],
    [
      'a last slot is postponed at that limit while another worker makes the probe',
      { slot: 1, attempt: 1, postponed: 1 },
      ok,
      { admit: admitIn('probing') },
      ['wait 30000 slot 1 attempt 1 postponed 2', `settle slot 1 waiting ${at('30.000')}`, 'report postpone'],
      null,
    ],
    [
      'a former last slot continues on a schedule that became longer',
      { slot: 0, postponed: 3 },
      ok,
      { admit: admitIn('open') },
      ['wait 10000 slot 1 attempt 0', `settle slot 0 waiting ${at('10.000')}`, 'report retry'],
      null,
    ],
  ])('%s', async (_name, due, outcome, change, steps, attempt) => {
    const world = aWorld(outcome, { noticeParked: async () => void world.steps.push('notice'), ...change })
    await world.deliver(aDelivery(due))
    expect(world.steps).toEqual(steps)
    const expected: unknown = attempt === null ? null : expect.objectContaining(attempt ?? {})
    expect(world.attempts).toEqual(attempt === undefined ? [] : [expected])
  })

  test.each([-3_600_000, 3_600_000])(
    'an attempt takes as long as it takes while the clock is set by %i ms',
    async (stepMs) => {
      let [nowMs, setByMs] = [0, 0]
      const results: unknown[] = []
      const { deliver, attempts } = aWorld(ok, {
        isolation: {
          enter: (...args) => ({ ...anIsolation().enter(...args), posted: (result) => void results.push(result) }),
        },
        post: async (delivery) => {
          nowMs += 24
          setByMs = stepMs
          return posted(delivery, ok, 24)
        },
        redisNow: () => STARTED_MS + setByMs + nowMs,
        nowMs: () => nowMs,
      })
      await deliver(aDelivery())
      expect(attempts).toMatchObject([{ at: '2026-01-01T00:00:00.000Z', durationMs: 24 }])
      expect(results).toEqual([{ durationMs: 24, isFailure: false }])
    },
  )

  /** Delivers with a turn that becomes free after the look, under leases that end 1, 2, 3... ms after the start. */
  async function deliverAfterWait(change: Change) {
    const due = aDelivery()
    const { isolation, take, free } = oneTurn()
    take(due)
    let looks = 0
    const leases: number[] = []
    const { deliver } = aWorld(ok, {
      isolation,
      admit: async (delivery) => aReading(delivery, { trustedUntilMs: ++looks }),
      post: async (delivery, _attempt, trustedUntilMs) => {
        leases.push(trustedUntilMs)
        return posted(delivery, ok)
      },
      ...change,
    })
    const delivered = deliver(due, 'lane')
    await eventually(() => expect(looks).toBe(1))
    // It waits now.
    await new Promise(setImmediate)
    free()
    await delivered
    return { looks, leases }
  }

  test('a delivery that waited for a turn until its lease ended is looked at again, and posted under the new lease', async () => {
    expect(await deliverAfterWait({ nowMs: () => 1 })).toEqual({ looks: 2, leases: [2] })
  })

  test('a delivery gets a single look if its lease is still valid when it gets a turn', async () => {
    expect(await deliverAfterWait({ nowMs: () => 0 })).toEqual({ looks: 1, leases: [1] })
  })

  test('a delivery whose endpoint failed while it waited for a turn is looked at again', async () => {
    const breaker = aBreaker({ isFailing: () => true })
    expect(await deliverAfterWait({ nowMs: () => 0, breaker })).toEqual({ looks: 2, leases: [2] })
  })

  test('a delivery that was settled elsewhere while it waited for a turn is not POSTed', async () => {
    const answers = [false, true]
    const isSettled = async () => answers.shift() ?? true
    expect(await deliverAfterWait({ nowMs: () => 1, isSettled })).toEqual({ looks: 2, leases: [] })
  })

  test('a result without a POST is not kept: the delivery that comes back is looked at again', async () => {
    const withheld = [{ kind: 'unsignable' as const }]
    const { deliver, steps } = aWorld(ok, {
      admit: async (due) => aReading(withheld.shift() ?? due),
      publishRetry: () => Promise.reject(new Unavailable('rabbitmq', 'away')),
    })
    const due = aDelivery()
    await expect(deliver(due)).rejects.toThrow('away')
    await deliver(due)
    expect(steps).toContain('settle slot 0 acknowledged')
  })

  test('each delivery has the retries of its own schedule', async () => {
    const [retried, parked] = [aDelivery(), aDelivery()]
    const { deliver, steps } = aWorld(down, {
      scheduleOf: ({ deliveryId }) => ({ waitsMs: deliveryId === retried.deliveryId ? [10_000] : [], cooldownMs: 1 }),
    })
    await deliver(retried)
    await deliver(parked)
    expect(steps.filter((step) => step.startsWith('report'))).toEqual(['report retry', 'report park'])
  })

  test('a first attempt that was sent to the url of a renewed lease is retried at that url', async () => {
    const published: Delivery[] = []
    const { deliver, attempts } = aWorld(down, {
      post: async (due) => posted({ ...due, url: 'https://client.example/moved' }, down),
      publishRetry: async (delivery) => void published.push(delivery),
    })
    await deliver(aDelivery())
    expect(published).toMatchObject([{ url: 'https://client.example/moved', slot: 1, attempt: 1 }])
    expect(attempts).toMatchObject([{ attempt: 1, outcome: 'refused' }])
  })

  test('a retry is published again with a new token only if its confirm was lost, and the ledger names the confirmed one', async () => {
    const published: Delivery[] = []
    const named: unknown[] = []
    const failing = ['confirm', 'settle', 'settle']
    const failAt = (step: string): void => {
      if (failing[0] === step) throw new Unavailable('redis', `no ${failing.shift()}`)
    }
    const { deliver } = aWorld(down, {
      publishRetry: async (delivery) => {
        published.push(delivery)
        failAt('confirm')
      },
      settle: async (_delivery, _attempt, settlement) => {
        failAt('settle')
        named.push(settlement)
        return WRITTEN
      },
    })
    const due = aDelivery({ token: 'a1b2c3d4' })
    await expect(deliver(due)).rejects.toThrow('no confirm')
    for (let n = 0; n < 2; n++) await expect(deliver(due)).rejects.toThrow('no settle')
    await deliver(due)
    const tokens = published.map(({ token }) => token)
    expect(tokens).toHaveLength(2)
    expect(new Set(['a1b2c3d4', ...tokens]).size).toBe(3)
    expect(named).toMatchObject([{ state: 'waiting', next: { token: tokens[1], postponed: 0 } }])
  })

  test('two duplicates of a message in one worker are handled one after the other: one POST', async () => {
    let isSettled = false
    const { deliver, steps } = aWorld(ok, {
      isSettled: async () => isSettled,
      settle: async () => {
        isSettled = true
        return WRITTEN
      },
    })
    const due = aDelivery()
    await Promise.all([deliver(due), deliver(due), deliver(due)])
    expect(steps).toEqual(['post https://client.example/hook attempt 1', 'report acknowledged'])
  })

  test('a duplicate takes over the result of a POST in this worker that could not be settled', async () => {
    let failures = 1
    const { deliver, steps } = aWorld(ok, {
      settle: async () => {
        if (failures-- > 0) throw new Unavailable('redis', 'away')
        return WRITTEN
      },
    })
    const due = aDelivery()
    const [first, second] = await Promise.allSettled([deliver(due), deliver(due)])
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
    expect(steps).toEqual(['post https://client.example/hook attempt 1', 'report acknowledged'])
  })

  test('a result whose message does not come back is forgotten', async () => {
    let nowMs = 0
    let isAway = true
    const { deliver, steps } = aWorld(ok, {
      nowMs: () => nowMs,
      settle: async () => {
        if (isAway) throw new Unavailable('redis', 'away')
        return WRITTEN
      },
    })
    const due = aDelivery()
    await expect(deliver(due)).rejects.toThrow('away')
    nowMs = MAX_UNACKED_MS
    await expect(deliver(due)).rejects.toThrow('away')
    expect(steps).toHaveLength(1)
    // By now another worker has the message, or has finished it.
    nowMs = 2 * MAX_UNACKED_MS + 1
    isAway = false
    await deliver(due)
    expect(steps.filter((step) => step.startsWith('post'))).toHaveLength(2)
  })

  test.each<[string, Outcome, Change]>([
    ['the ledger cannot be read', ok, { isSettled: gone }],
    ['the subscription cannot be read', ok, { admit: gone }],
    ['the retry is not confirmed', down, { publishRetry: gone }],
    ['the slot cannot be settled', ok, { settle: gone }],
    ['the parked record cannot be stored', { kind: 'answered', status: 404 }, { settle: gone }],
  ])('when %s the message is not acknowledged', async (_name, outcome, change) => {
    const { deliver, steps } = aWorld(outcome, change)
    await expect(deliver(aDelivery())).rejects.toThrow('gone')
    expect(steps.filter((step) => step.startsWith('report') || step.startsWith('settle'))).toEqual([])
  })

  test.each<[string, Outcome, 'settle' | 'publishRetry']>([
    ['its acknowledgement could not be settled', ok, 'settle'],
    ['its retry was not confirmed', down, 'publishRetry'],
  ])('when %s, the message that comes back is not POSTed again', async (_name, outcome, failing) => {
    let isAway = true
    const world = aWorld(outcome)
    const real = world.deps[failing] as (...args: unknown[]) => Promise<unknown>
    const { deliver, steps } = aWorld(outcome, {
      [failing]: async (...args: unknown[]) => {
        if (isAway) throw new Unavailable('redis', 'gone')
        return await real(...args)
      },
    })
    const delivery = aDelivery()
    await expect(deliver(delivery)).rejects.toThrow('gone')
    await expect(deliver(delivery)).rejects.toThrow('gone')
    isAway = false
    await deliver(delivery)
    expect([...steps, ...world.steps].filter((step) => step.startsWith('post'))).toHaveLength(1)
    expect(steps.filter((step) => step.startsWith('report'))).toHaveLength(1)
    // The result is forgotten: if the same slot comes back once more, this process POSTs it again.
    await deliver(delivery)
    expect(steps.filter((step) => step.startsWith('post'))).toHaveLength(2)
  })

  describe('an endpoint in its cool-down', () => {
    test('postpones the last slot for one cool-down and then for longer waits, and settles each postponement', async () => {
      const waits: [number, number | undefined][] = []
      const named: unknown[] = []
      const published: unknown[] = []
      const { deliver } = aWorld(ok, {
        scheduleOf: () => ({ waitsMs: [10_000, 60_000, 300_000], cooldownMs: 30_000 }),
        admit: admitIn('open'),
        settle: async (_delivery, _attempt, settlement) => {
          named.push(settlement)
          return WRITTEN
        },
        publishRetry: async ({ slot, attempt, postponed, token }, waitMs) => {
          expect([slot, attempt]).toEqual([3, 2])
          waits.push([waitMs, postponed])
          published.push({ state: 'waiting', slot, next: { token, postponed }, nextAttemptAt: expect.any(String) })
        },
      })
      for (const postponed of [0, 1, 2]) {
        await deliver(aDelivery({ slot: 3, attempt: 2, ...(postponed > 0 && { postponed }) }))
      }
      expect(waits).toEqual([
        [30_000, 1],
        [60_000, 2],
        [300_000, 3],
      ])
      expect(named).toEqual(published)
    })

    test('is contacted by the worker that claims the probe, which reports the outcome', async () => {
      const recorded: unknown[] = []
      const { deliver, steps } = aWorld(down, {
        admit: admitIn('probing'),
        breaker: aBreaker({
          claimProbe: async () => 'the probe',
          record: async (_delivery, outcome, { probe }) => void recorded.push([outcome, probe]),
        }),
      })
      await deliver(aDelivery())
      expect(steps[0]).toBe('post https://client.example/hook attempt 1')
      expect(recorded).toEqual([[down, 'the probe']])
    })

    test.each<[string, Withheld, string]>([
      ['no permit is free for it', { kind: 'held', visitInMs: 100 }, 'held'],
      ['its first attempt is withdrawn', { kind: 'withdrawn' }, 'withdrawn'],
    ])('gets its probe back if %s, so that it need not lapse', async (_name, withheld, settled) => {
      const released: unknown[] = []
      const breaker = aBreaker({
        claimProbe: async () => 'the probe',
        giveUpProbe: async ({ deliveryId }, probe) => void released.push([deliveryId, probe]),
      })
      const { deliver, steps } = aWorld(ok, { admit: admitIn('probing'), breaker, post: async () => withheld })
      const due = aDelivery()
      await deliver(due)
      expect(released).toEqual([[due.deliveryId, 'the probe']])
      expect(steps[0]).toBe(`settle slot 0 ${settled}`)
    })

    test.each([
      ['', async () => {}],
      [', although Redis is away', gone],
    ])('gets its probe back if the POST cannot be made%s', async (_case, release) => {
      const released: unknown[] = []
      const breaker = aBreaker({
        claimProbe: async () => 'the probe',
        giveUpProbe: async (_delivery, probe) => {
          released.push(probe)
          await release()
        },
      })
      const post = () => Promise.reject(new Unavailable('process', 'no sockets'))
      const { deliver, steps } = aWorld(ok, { admit: admitIn('probing'), breaker, post })
      await expect(deliver(aDelivery())).rejects.toMatchObject({ dependency: 'process' })
      expect([released, steps]).toEqual([['the probe'], []])
    })

    test('costs no probe for a message that is settled or withdrawn', async () => {
      const claims: string[] = []
      const probing = aBreaker({
        claimProbe: async ({ deliveryId }) => {
          claims.push(deliveryId)
          return 'the probe'
        },
      })
      await aWorld(ok, { breaker: probing, admit: admitIn('probing'), isSettled: async () => true }).deliver(
        aDelivery(),
      )
      const withdrawn = aReading({ kind: 'withdrawn' }, { health: { ...HEALTHY, state: 'probing' } })
      await aWorld(ok, { breaker: probing, admit: async () => withdrawn }).deliver(aDelivery())
      expect(claims).toEqual([])
    })

    test('learns how long the endpoint took', async () => {
      const recorded: number[] = []
      const breaker = aBreaker({ record: async (_delivery, _outcome, _before, ms) => void recorded.push(ms) })
      await aWorld(down, { breaker, post: async (delivery) => posted(delivery, down, 1_234) }).deliver(aDelivery())
      expect(recorded).toEqual([1_234])
    })

    test('learns nothing from a first attempt that is withdrawn during connecting', async () => {
      let recorded = 0
      const breaker = aBreaker({ record: async () => void recorded++ })
      await aWorld(ok, { breaker, post: async () => ({ kind: 'withdrawn' }) }).deliver(aDelivery())
      expect(recorded).toBe(0)
    })

    test('learns nothing from an attempt that a client made, whose retry is held instead of being sent', async () => {
      let recorded = 0
      const { conclude, steps } = aWorld(down, { breaker: aBreaker({ record: async () => void recorded++ }) })
      await conclude({ via: 'pull', delivery: aDelivery(), outcome: down, attempt: anAttempt() })
      expect([recorded, steps]).toEqual([0, ['settle slot 0 held', 'report hold']])
    })

    test('gets an outcome once, however often the message comes back', async () => {
      let isAway = true
      let recorded = 0
      const { deliver } = aWorld(ok, {
        breaker: aBreaker({ record: async () => void recorded++ }),
        settle: async () => {
          if (isAway) throw new Unavailable('redis', 'gone')
          return WRITTEN
        },
      })
      const delivery = aDelivery()
      await expect(deliver(delivery)).rejects.toThrow('gone')
      isAway = false
      await deliver(delivery)
      expect(recorded).toBe(1)
    })

    test('does not delay a delivery if its breaker cannot be written', async () => {
      const { deliver, steps } = aWorld(ok, {
        breaker: aBreaker({ record: gone }),
      })
      await deliver(aDelivery())
      expect(steps).toContain('settle slot 0 acknowledged')
    })
  })

  describe('without a turn', () => {
    /** Delivers while the turn is taken. */
    async function withoutTurn(change: Change = {}) {
      const { isolation, take, toLane } = oneTurn()
      const { deliver, steps } = aWorld(ok, { isolation, ...change })
      const due = aDelivery()
      take(due)
      await deliver(due)
      return { steps, toLane }
    }

    test('no ordinary POST is made', async () => {
      const { steps, toLane } = await withoutTurn()
      expect(steps).toEqual([])
      expect(toLane).toHaveLength(1)
    })

    test.each<[string, Change, string]>([
      ['settled', { isSettled: async () => true }, ''],
      ['withdrawn', { admit: async () => aReading({ kind: 'withdrawn' }) }, 'report withdrawn'],
      ['for an endpoint in its cool-down', { admit: admitIn('open') }, 'report retry'],
      ['not the probe', { admit: admitIn('probing') }, 'report postpone'],
    ])('a delivery that is %s is completed', async (_name, change, last) => {
      const { steps, toLane } = await withoutTurn(change)
      expect(steps.at(-1) ?? '').toBe(last)
      expect(toLane).toEqual([])
    })

    test('the probe is sent', async () => {
      const breaker = aBreaker({ claimProbe: async () => 'the probe' })
      const { steps } = await withoutTurn({ admit: admitIn('probing'), breaker })
      expect(steps).toContain('post https://client.example/hook attempt 1')
    })

    test('a delivery that was POSTed and could not be settled is settled', async () => {
      let isAway = true
      const { isolation, take, toLane } = oneTurn()
      const { deliver, steps } = aWorld(ok, { isolation, settle: async () => (isAway ? gone() : WRITTEN) })
      const due = aDelivery()
      await expect(deliver(due)).rejects.toThrow('gone')
      isAway = false
      take(due)
      await deliver(due)
      expect(toLane).toEqual([])
      expect(steps.filter((step) => step.startsWith('post'))).toHaveLength(1)
    })
  })

  /** Delivers once while a step fails, and once more after the slot has been settled. */
  async function deliverSettledMeanwhile(outcome: Outcome, failing: 'settle' | 'publishRetry', noticeFails = 0) {
    let isSettled = false
    const { deliver, steps } = aWorld(outcome, {
      isSettled: async () => isSettled,
      settle: async () => (isSettled ? { kind: 'already' } : gone()),
      publishRetry: async () => {
        if (failing === 'publishRetry' && !isSettled) await gone()
        steps.push('wait')
      },
      noticeParked: async () => {
        if (noticeFails-- > 0) await gone()
        steps.push('notice')
      },
    })
    const due = aDelivery()
    await expect(deliver(due)).rejects.toThrow('gone')
    isSettled = true
    for (let failed = noticeFails; failed > 0; failed--) await expect(deliver(due)).rejects.toThrow('gone')
    await deliver(due)
    return steps
  }
  const POSTED = `${POST} 1`

  test.each<[string, Outcome, 'settle' | 'publishRetry', string[]]>([
    ['a reply of the ledger was lost', ok, 'settle', [POSTED, 'report acknowledged', 'notice']],
    [
      'its retry was confirmed and another worker settled the slot',
      down,
      'settle',
      [POSTED, 'wait', 'report retry', 'notice'],
    ],
    [
      'its retry was not confirmed and another worker settled the slot',
      down,
      'publishRetry',
      [POSTED, 'wait', 'report retry', 'notice'],
    ],
  ])('an attempt is reported once, and not made again, after %s', async (_name, outcome, failing, steps) => {
    expect(await deliverSettledMeanwhile(outcome, failing)).toEqual(steps)
    expect(await deliverSettledMeanwhile(outcome, failing, 2)).toEqual(steps)
  })

  test('a slot is settled again before what follows is repeated, because Redis may have lost it; it is reported once', async () => {
    const followed: unknown[] = []
    const found = ['written', 'written', 'already'] as const
    const { deliver, steps } = aWorld(ok, {
      settle: async () => ({ kind: found[followed.length] ?? 'already' }),
      afterSettled: [
        async ({ written }) => {
          if (followed.push(written !== undefined) < 3) await gone()
        },
      ],
    })
    const due = aDelivery()
    for (let n = 0; n < 2; n++) await expect(deliver(due)).rejects.toThrow('gone')
    await deliver(due)
    expect(followed).toEqual([true, true, false])
    expect(steps).toEqual(['post https://client.example/hook attempt 1', 'report acknowledged'])
  })

  test('a message that was POSTed needs no turn', async () => {
    const isolation = anIsolation()
    let entered = 0
    const enter: typeof isolation.enter = (...args) => {
      entered += 1
      return isolation.enter(...args)
    }
    let failures = 1
    const { deliver } = aWorld(ok, {
      isolation: { enter },
      settle: async () => (failures-- > 0 ? gone() : WRITTEN),
    })
    const due = aDelivery()
    await expect(deliver(due)).rejects.toThrow('gone')
    await deliver(due)
    expect(entered).toBe(1)
  })
})

describe('the notice of a parked delivery', () => {
  const rejected: Outcome = { kind: 'answered', status: 400 }
  const away = () => Promise.reject(new Unavailable('rabbitmq', 'away'))

  test('is published when the message comes back, without a POST, by the same or another worker', async () => {
    for (const isSameWorker of [true, false]) {
      let isSettled = false
      let isAway = true
      const steps: string[] = []
      const change: Change = {
        observer: notifyAll([{ concluded: () => void steps.push('report') }]),
        isSettled: async () => isSettled,
        settle: async () => {
          isSettled = true
          return WRITTEN
        },
        post: async (due) => {
          steps.push('post')
          return posted(due, rejected)
        },
        noticeParked: async () => {
          if (isAway) await away()
          steps.push('notice')
        },
      }
      const first = aWorld(rejected, change)
      const delivery = aDelivery()
      await expect(first.deliver(delivery)).rejects.toThrow(Unavailable)
      await expect(first.deliver(delivery)).rejects.toThrow(Unavailable)
      isAway = false
      await (isSameWorker ? first : aWorld(rejected, change)).deliver(delivery)
      expect(steps).toEqual(['post', 'report', 'notice'])
    }
  })
})

describe('recoverRejected', () => {
  const unauthorized: Outcome = { kind: 'answered', status: 401 }

  const parked = { state: 'parked', parkedReason: 'rejected', parkedAt: '2026-01-01T00:00:00.000Z' } as const
  const record: DeliveryRecord = { ...aDelivery(), ...parked, nextAttemptAt: null, attempts: [] }

  /** The steps after the POST, with the questions and recorded rejections. */
  function aRecovering(outcome: Outcome, rejected?: string, change: Change = {}, failures = 0) {
    const world = aWorld(outcome, {
      admit: async (delivery) => aReading(delivery, { rejected }),
      afterSettled: [
        createRecoverRejected(
          { find: async () => record },
          { record: async () => void world.steps.push('record') },
          {
            commit: async () => {
              if (failures-- > 0) await gone()
              world.steps.push('ask')
              return 'committed' as const
            },
          },
        ),
      ],
      ...change,
    })
    return world
  }

  test.each<[string, Outcome, string | undefined, string[]]>([
    [
      'a 2xx asks once its slot is settled',
      ok,
      'recorded',
      ['settle slot 0 acknowledged', 'report acknowledged', 'ask'],
    ],
    ['a 2xx asks nothing if no rejection is recorded', ok, '', ['settle slot 0 acknowledged', 'report acknowledged']],
    ['a 2xx asks nothing without the setting', ok, undefined, ['settle slot 0 acknowledged', 'report acknowledged']],
    [
      'a rejection is recorded once it is parked',
      unauthorized,
      '',
      ['settle slot 0 parked rejected', 'report park', 'record'],
    ],
    [
      'a rejection is not recorded without the setting',
      unauthorized,
      undefined,
      ['settle slot 0 parked rejected', 'report park'],
    ],
  ])('%s', async (_name, outcome, rejected, expected) => {
    const { deliver, steps } = aRecovering(outcome, rejected)
    await deliver(aDelivery())
    expect(steps.slice(1)).toEqual(expected)
  })

  test.each<[string, string | undefined, string[]]>([
    ['is recorded', '', ['record']],
    ['is not recorded without the setting', undefined, []],
  ])('a parked delivery whose message comes back %s', async (_name, rejected, expected) => {
    const { deliver, steps } = aRecovering(unauthorized, rejected, { isSettled: async () => true })
    await deliver(aDelivery())
    expect(steps).toEqual(expected)
  })

  test('a question that cannot be stored is asked again without another POST', async () => {
    const settle = async () => (steps.length > 1 ? ({ kind: 'already' } as const) : WRITTEN)
    const { deliver, steps } = aRecovering(ok, 'recorded', { settle }, 1)
    const due = aDelivery()
    await expect(deliver(due)).rejects.toThrow('gone')
    await deliver(due)
    expect(steps).toEqual([expect.stringContaining('post'), 'report acknowledged', 'ask'])
  })
})
