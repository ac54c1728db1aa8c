import { type Attempt, type Delivery, type Outcome, type Subscription, Unavailable } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Admission } from '../policy/admit.ts'
import { aDelivery, aSubscription } from '../testing/deliveries.ts'
import { createDeliver, type DeliverDeps } from './deliver.ts'

const STARTED_MS = Date.parse('2026-01-01T00:00:00.000Z')

const healthy: EndpointHealth = { state: 'closed', consecutiveFailures: 0, openUntilMs: null }

/** Records every step in the order of completion. */
function aWorld(outcome: Outcome, change: Partial<DeliverDeps> = {}) {
  const steps: string[] = []
  const attempts: (Attempt | null)[] = []
  let clockMs = STARTED_MS
  let hasFreeTurn = true
  let movedToLane = 0
  const deps: DeliverDeps = {
    waitsMs: [10_000],
    cooldownMs: 30_000,
    isolation: {
      take: () => hasFreeTurn,
      wait: async () => false,
      noteAnswer: () => {},
      release: () => {},
      moveToLane: async () => void (movedToLane += 1),
    },
    breaker: {
      isFailing: () => false,
      claimProbe: async () => undefined,
      note: async () => {},
    },
    isSettled: async () => false,
    admit: async (admitted) => ({ admitted, health: healthy }),
    post: async (delivery, attempt) => {
      clockMs += 25
      steps.push(`post ${delivery.url} attempt ${attempt}`)
      return outcome
    },
    retryLater: async ({ slot, attempt }, waitMs) => void steps.push(`wait ${waitMs} slot ${slot} attempt ${attempt}`),
    park: async (_delivery, attempt, reason) => {
      attempts.push(attempt)
      steps.push(`park ${reason}`)
    },
    noticeParked: async () => {},
    keep: async () => {},
    settle: async ({ slot }, attempt, standing) => {
      attempts.push(attempt)
      steps.push(`settle slot ${slot} ${Object.values(standing).join(' ')}`)
    },
    report: (_delivery, _attempt, { kind }) => void steps.push(`report ${kind}`),
    now: () => clockMs,
    nowMs: () => 0,
    ...change,
  }
  const run = createDeliver(deps)
  return {
    deliver: (due: Delivery) => run(due, 'due'),
    /** Delivers while all turns are taken. Resolves to whether that was possible. */
    withoutTurn: async (due: Delivery): Promise<boolean> => {
      const before = movedToLane
      hasFreeTurn = false
      await run(due, 'due')
      hasFreeTurn = true
      return movedToLane === before
    },
    deps,
    steps,
    attempts,
  }
}

const ok: Outcome = { kind: 'delivered', status: 200 }
const down: Outcome = { kind: 'unreachable', reason: 'refused' }

describe('deliver', () => {
  test('a delivered delivery is settled after the POST', async () => {
    const { deliver, steps, attempts } = aWorld(ok)
    await deliver(aDelivery())
    expect(steps).toEqual([
      'post https://client.example/hook attempt 1',
      'settle slot 0 acknowledged',
      'report acknowledged',
    ])
    expect(attempts).toEqual([
      {
        run: 1,
        slot: 0,
        attempt: 1,
        at: '2026-01-01T00:00:00.000Z',
        durationMs: 25,
        outcome: 'delivered',
        status: 200,
      },
    ])
  })

  test('a retry is confirmed by the broker before the slot is settled', async () => {
    const { deliver, steps } = aWorld(down)
    await deliver(aDelivery({ slot: 0, attempt: 0 }))
    expect(steps).toEqual([
      'post https://client.example/hook attempt 1',
      'wait 10000 slot 1 attempt 1',
      'settle slot 0 waiting 2026-01-01T00:00:10.025Z',
      'report retry',
    ])
  })

  test('a delivery that cannot be signed is not sent: it waits, and no attempt is counted', async () => {
    const admit = async (): Promise<Admission> => ({ admitted: { kind: 'unsignable' }, health: healthy })
    const { deliver, steps, attempts } = aWorld(ok, { admit })
    await deliver(aDelivery({ slot: 0, attempt: 0 }))
    await deliver(aDelivery({ slot: 1, attempt: 0 }))
    expect(steps).toEqual([
      'wait 10000 slot 1 attempt 0',
      'settle slot 0 waiting 2026-01-01T00:00:10.000Z',
      'report retry',
      'wait 30000 slot 1 attempt 0',
      'report postpone',
    ])
    expect(attempts).toEqual([null])
  })

  test('a first attempt that is withdrawn during connecting counts neither as an attempt nor for the breaker', async () => {
    const noted: string[] = []
    const breaker = {
      isFailing: () => false,
      claimProbe: async () => undefined,
      note: async () => void noted.push('noted'),
    }
    const { deliver, steps, attempts } = aWorld(ok, { breaker, post: async () => ({ kind: 'withdrawn' }) })
    await deliver(aDelivery())
    expect(steps).toEqual(['settle slot 0 withdrawn', 'report withdrawn'])
    expect(attempts).toEqual([null])
    expect(noted).toEqual([])
  })

  /** Delivers with a turn that becomes free after a wait, under leases that end 1, 2, 3... ms after the start. */
  async function deliverAfterWait(change: Partial<DeliverDeps>) {
    const due = aDelivery()
    const subscription = aSubscription({ id: due.subscriptionId })
    let looks = 0
    const leases: unknown[] = []
    const turns: string[] = []
    const { deliver } = aWorld(ok, {
      isolation: {
        take: () => false,
        wait: async () => turns.push('take') > 0,
        noteAnswer: () => {},
        release: () => void turns.push('release'),
        moveToLane: () => Promise.reject(new Error('it has a turn')),
      },
      admit: async (admitted) => ({ admitted, health: healthy, lease: { subscription, trustedUntilMs: ++looks } }),
      post: async (_due, _attempt, lease) => {
        leases.push(lease?.trustedUntilMs)
        return ok
      },
      ...change,
    })
    await deliver(due)
    expect(turns).toEqual(['take', 'release'])
    return { looks, leases }
  }

  test('a delivery that waited for a turn until its lease ended is looked at again, and posted under the new lease', async () => {
    expect(await deliverAfterWait({ nowMs: () => 1 })).toEqual({ looks: 2, leases: [2] })
  })

  test('a delivery whose lease is still valid when it gets a turn is looked at once', async () => {
    expect(await deliverAfterWait({ nowMs: () => 0 })).toEqual({ looks: 1, leases: [1] })
  })

  test('a delivery whose endpoint failed while it waited for a turn is looked at again', async () => {
    const breaker = { isFailing: () => true, claimProbe: async () => undefined, note: async () => {} }
    expect(await deliverAfterWait({ nowMs: () => 0, breaker })).toEqual({ looks: 2, leases: [2] })
  })

  test('a delivery that was settled elsewhere while it waited for a turn is not POSTed', async () => {
    const answers = [false, true]
    const isSettled = async () => answers.shift() ?? true
    expect(await deliverAfterWait({ nowMs: () => 1, isSettled })).toEqual({ looks: 2, leases: [] })
  })

  test('a delivery whose copy was POSTed here, and not settled, while it waited for a turn is not POSTed again', async () => {
    const due = aDelivery()
    let isRedisAway = true
    let posts = 0
    let deliveries = 0
    const { deliver, steps } = aWorld(ok, {
      isolation: {
        take: () => deliveries++ > 0,
        wait: async () => {
          await expect(deliver(due)).rejects.toThrow('away')
          isRedisAway = false
          return true
        },
        noteAnswer: () => {},
        release: () => {},
        moveToLane: () => Promise.reject(new Error('it has a turn')),
      },
      admit: async (admitted) => ({
        admitted,
        health: healthy,
        lease: { subscription: {} as Subscription, trustedUntilMs: Infinity },
      }),
      post: async () => {
        posts += 1
        return ok
      },
      settle: async (_delivery, _attempt, { state }) => {
        if (isRedisAway) throw new Unavailable('redis', 'away')
        steps.push(state)
      },
    })
    await deliver(due)
    expect([posts, ...steps]).toEqual([1, 'acknowledged', 'report acknowledged'])
  })

  test('a result without a POST is not kept: the delivery that comes back is looked at again', async () => {
    const looks: Admission[] = [
      { admitted: { kind: 'unsignable' }, health: healthy },
      { admitted: aDelivery(), health: healthy },
    ]
    const { deliver, steps } = aWorld(ok, {
      admit: async () => looks.shift() as Admission,
      retryLater: () => Promise.reject(new Unavailable('rabbitmq', 'away')),
    })
    const due = aDelivery()
    await expect(deliver(due)).rejects.toThrow('away')
    await deliver(due)
    expect(steps).toContain('settle slot 0 acknowledged')
  })

  test('a copy that is withheld does not drop the result of a POST that is not settled yet', async () => {
    const due = aDelivery({ slot: 1, attempt: 1 })
    let isRedisAway = true
    let copyLooks = (_admission: Admission): void => {}
    const looks = [
      (): Promise<Admission> => new Promise((resolve) => (copyLooks = resolve)),
      async (): Promise<Admission> => ({ admitted: due, health: healthy }),
      async (): Promise<Admission> => ({ admitted: due, health: healthy }),
    ]
    const { deliver, steps } = aWorld(ok, {
      admit: () => (looks.shift() as () => Promise<Admission>)(),
      settle: async () => {
        if (isRedisAway) throw new Unavailable('redis', 'away')
      },
    })
    const copy = deliver(due)
    await expect(deliver(due)).rejects.toThrow('away')
    copyLooks({ admitted: due, health: { state: 'open', consecutiveFailures: 5, openUntilMs: STARTED_MS } })
    await copy
    isRedisAway = false
    await deliver(due)
    expect(steps.filter((step) => step.startsWith('post'))).toHaveLength(1)
  })

  test('a first attempt that was sent to the url of a renewed lease is retried at that url', async () => {
    const published: Delivery[] = []
    const { deliver, attempts } = aWorld(down, {
      post: async (due) => ({
        kind: 'readmitted',
        delivery: { ...due, url: 'https://client.example/moved' },
        outcome: down,
      }),
      retryLater: async (delivery) => void published.push(delivery),
    })
    await deliver(aDelivery())
    expect(published).toMatchObject([{ url: 'https://client.example/moved', slot: 1, attempt: 1 }])
    expect(attempts).toMatchObject([{ attempt: 1, outcome: 'refused' }])
  })

  test('after the last slot a delivery is parked with the attempt', async () => {
    const { deliver, steps, attempts } = aWorld(down)
    await deliver(aDelivery({ slot: 1, attempt: 1 }))
    expect(steps).toEqual(['post https://client.example/hook attempt 2', 'park exhausted', 'report park'])
    expect(attempts).toMatchObject([{ slot: 1, attempt: 2, outcome: 'refused', status: null }])
  })

  test('the excerpt of an error answer is stored with the attempt', async () => {
    const { deliver, attempts } = aWorld({ kind: 'answered', status: 400, answer: 'no such hook' })
    await deliver(aDelivery())
    expect(attempts).toMatchObject([{ outcome: 'answered', status: 400, answer: 'no such hook' }])
  })

  test('a second run continues the attempt counter', async () => {
    const { deliver, steps } = aWorld(ok)
    await deliver(aDelivery({ run: 2, slot: 0, attempt: 8 }))
    expect(steps[0]).toBe('post https://client.example/hook attempt 9')
  })

  test('a slot that is settled is not POSTed again', async () => {
    const { deliver, steps } = aWorld(ok, { isSettled: async () => true })
    await deliver(aDelivery())
    expect(steps).toEqual([])
  })

  test('a withdrawn delivery is settled without a POST or an attempt', async () => {
    const { deliver, steps, attempts } = aWorld(ok, {
      admit: async () => ({ admitted: { kind: 'withdrawn' }, health: healthy }),
    })
    await deliver(aDelivery())
    expect(steps).toEqual(['settle slot 0 withdrawn', 'report withdrawn'])
    expect(attempts).toEqual([null])
  })

  test.each<[string, Outcome, Partial<DeliverDeps>]>([
    ['the ledger cannot be read', ok, { isSettled: async () => Promise.reject(new Unavailable('redis', 'gone')) }],
    ['the subscription cannot be read', ok, { admit: async () => Promise.reject(new Unavailable('redis', 'gone')) }],
    [
      'the retry is not confirmed',
      down,
      { retryLater: async () => Promise.reject(new Unavailable('rabbitmq', 'gone')) },
    ],
    ['the slot cannot be settled', ok, { settle: async () => Promise.reject(new Unavailable('redis', 'gone')) }],
    [
      'the parked record cannot be stored',
      { kind: 'answered', status: 404 },
      { park: async () => Promise.reject(new Unavailable('redis', 'gone')) },
    ],
  ])('when %s the message is not acknowledged', async (_name, outcome, change) => {
    const { deliver, steps } = aWorld(outcome, change)
    await expect(deliver(aDelivery())).rejects.toThrow('gone')
    expect(steps.filter((step) => step.startsWith('report') || step.startsWith('settle'))).toEqual([])
  })

  test.each<[string, Outcome, keyof DeliverDeps]>([
    ['its acknowledgement could not be settled', ok, 'settle'],
    ['its retry was not confirmed', down, 'retryLater'],
  ])('when %s, the message that comes back is not POSTed again', async (_name, outcome, failing) => {
    let isAway = true
    const world = aWorld(outcome)
    const real = world.deps[failing] as (...args: unknown[]) => Promise<void>
    const { deliver, steps } = aWorld(outcome, {
      [failing]: async (...args: unknown[]) => {
        if (isAway) throw new Unavailable('redis', 'gone')
        await real(...args)
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
    const breaker = (change: Partial<DeliverDeps['breaker']> = {}): DeliverDeps['breaker'] => ({
      isFailing: () => false,
      claimProbe: async () => undefined,
      note: async () => {},
      ...change,
    })
    const admitWhile =
      (state: EndpointHealth['state']): DeliverDeps['admit'] =>
      async (admitted) => ({ admitted, health: { ...healthy, state } })

    test('is not contacted: the slot is used up, the attempt number stays, the next slot is waited for', async () => {
      const { deliver, steps, attempts } = aWorld(ok, { admit: admitWhile('open') })
      await deliver(aDelivery({ slot: 0, attempt: 0 }))
      expect(steps).toEqual([
        'wait 10000 slot 1 attempt 0',
        'settle slot 0 waiting 2026-01-01T00:00:10.000Z',
        'report retry',
      ])
      expect(attempts).toEqual([null])
    })

    test('postpones the last slot unsettled, for one cool-down and then for longer waits', async () => {
      const waits: [number, number | undefined][] = []
      const kept: number[] = []
      const { deliver, steps } = aWorld(ok, {
        waitsMs: [10_000, 60_000, 300_000],
        admit: admitWhile('open'),
        keep: async ({ slot }) => void kept.push(slot),
        retryLater: async ({ slot, attempt, postponed }, waitMs) => {
          expect([slot, attempt]).toEqual([3, 2])
          waits.push([waitMs, postponed])
        },
      })
      for (const postponed of [undefined, 1, 2, 3]) {
        await deliver(aDelivery({ slot: 3, attempt: 2, ...(postponed !== undefined && { postponed }) }))
      }
      expect(waits).toEqual([
        [30_000, 1],
        [60_000, 2],
        [300_000, 3],
        [300_000, 4],
      ])
      expect(steps.filter((step) => step.startsWith('settle'))).toEqual([])
      expect(kept).toEqual([3, 3, 3, 3])
    })

    const openUntil = (openUntilMs: number | null, state: EndpointHealth['state'] = 'open'): Partial<DeliverDeps> => ({
      admit: async (admitted) => ({ admitted, health: { state, consecutiveFailures: 5, openUntilMs } }),
    })

    /** Delivers a last slot repeatedly until it is no longer postponed. `openUntilMs`: the breaker's, each time. */
    async function runLastSlot(first: Delivery, openUntilMs: (round: number) => number) {
      const waitsMs: number[] = []
      const reports: unknown[] = []
      const parked: unknown[] = []
      const steps: string[] = []
      let next: Delivery | undefined = first
      for (let round = 0; next !== undefined && round < 50; round++) {
        const due: Delivery = next
        next = undefined
        const { deliver } = aWorld(ok, {
          waitsMs: [10_000, 60_000, 300_000],
          ...openUntil(openUntilMs(round), round % 2 === 0 ? 'open' : 'probing'),
          retryLater: async (delivery, waitMs) => {
            next = delivery
            waitsMs.push(waitMs)
          },
          park: async (_delivery, attempt, reason) => {
            steps.push('park')
            parked.push({ attempt, reason })
          },
          report: (_delivery, attempt, { kind }, outcome) => reports.push([kind, attempt, outcome.kind]),
          noticeParked: async () => void steps.push('notice'),
        })
        await deliver(due)
      }
      return { waitsMs, reports, parked, steps, left: next }
    }

    test('parks a last slot without an attempt, as exhausted, after the longest wait and another failure', async () => {
      const { waitsMs, reports, parked, steps } = await runLastSlot(
        aDelivery({ slot: 3, attempt: 2 }),
        (round) => STARTED_MS + round,
      )
      expect(waitsMs).toEqual([30_000, 60_000, 300_000])
      expect(parked).toEqual([{ attempt: null, reason: 'exhausted' }])
      expect(steps).toEqual(['park', 'notice'])
      expect(reports.at(-1)).toEqual(['park', null, 'cooling'])
      expect(reports.slice(0, -1)).toEqual([1, 2, 3].map(() => ['postpone', null, 'cooling']))
    })

    test('does not park a last slot without another failure since it was first postponed', async () => {
      const { waitsMs, parked, left } = await runLastSlot(aDelivery({ slot: 3, attempt: 2 }), () => STARTED_MS)
      expect(parked).toEqual([])
      expect(waitsMs).toHaveLength(50)
      expect(left).toMatchObject({ slot: 3, attempt: 2, postponed: 50, postponement: { openUntilMs: STARTED_MS } })
    })

    test('postpones a last slot that an earlier version postponed once more, and then parks it', async () => {
      const { waitsMs, parked } = await runLastSlot(
        aDelivery({ slot: 3, attempt: 2, postponed: 40 }),
        (round) => STARTED_MS + round,
      )
      expect(waitsMs).toEqual([300_000])
      expect(parked).toHaveLength(1)
    })

    test('does not limit a last slot whose secret cannot be opened, nor count its waits', async () => {
      const sent: Delivery[] = []
      const { deliver, steps } = aWorld(ok, {
        admit: async () => ({
          admitted: { kind: 'unsignable' },
          health: { state: 'open', consecutiveFailures: 5, openUntilMs: STARTED_MS + 1 },
        }),
        retryLater: async (delivery) => void sent.push(delivery),
      })
      const postponement = { waitedMs: 1e9, openUntilMs: STARTED_MS }
      await deliver(aDelivery({ slot: 1, postponed: 3, postponement }))
      await deliver(aDelivery({ slot: 1 }))
      expect(steps).toEqual(['report postpone', 'report postpone'])
      expect(sent).toMatchObject([{ postponed: 4, postponement }, { postponed: 1 }])
      expect(sent[1]).not.toHaveProperty('postponement')
    })

    test('removes the postponement from a delivery that continues on a longer schedule', async () => {
      const sent: Delivery[] = []
      const { deliver } = aWorld(ok, { ...openUntil(STARTED_MS), retryLater: async (next) => void sent.push(next) })
      await deliver(aDelivery({ slot: 0, postponed: 3, postponement: { waitedMs: 1, openUntilMs: 1 } }))
      expect(sent).toMatchObject([{ slot: 1 }])
      expect(sent[0]).not.toHaveProperty('postponement')
      expect(sent[0]).not.toHaveProperty('postponed')
    })

    test('is contacted by the worker that claims the probe, which reports the outcome', async () => {
      const noted: unknown[] = []
      const { deliver, steps } = aWorld(down, {
        admit: admitWhile('probing'),
        breaker: breaker({
          claimProbe: async () => 'the probe',
          note: async (_delivery, outcome, { probe }) => void noted.push([outcome, probe]),
        }),
      })
      await deliver(aDelivery())
      expect(steps[0]).toBe('post https://client.example/hook attempt 1')
      expect(noted).toEqual([[down, 'the probe']])
    })

    test('is not contacted without the probe', async () => {
      const { deliver, steps } = aWorld(ok, { admit: admitWhile('probing') })
      await deliver(aDelivery())
      expect(steps[0]).toBe('wait 10000 slot 1 attempt 0')
    })

    test('costs no probe for a message that is settled or withdrawn', async () => {
      const claims: string[] = []
      const probing = breaker({
        claimProbe: async ({ deliveryId }) => {
          claims.push(deliveryId)
          return 'the probe'
        },
      })
      await aWorld(ok, { breaker: probing, admit: admitWhile('probing'), isSettled: async () => true }).deliver(
        aDelivery(),
      )
      const withdrawn: Admission = { admitted: { kind: 'withdrawn' }, health: { ...healthy, state: 'probing' } }
      await aWorld(ok, { breaker: probing, admit: async () => withdrawn }).deliver(aDelivery())
      expect(claims).toEqual([])
    })

    test('gets an outcome once, however often the message comes back', async () => {
      let isAway = true
      let noted = 0
      const { deliver } = aWorld(ok, {
        breaker: breaker({ note: async () => void noted++ }),
        settle: async () => {
          if (isAway) throw new Unavailable('redis', 'gone')
        },
      })
      const delivery = aDelivery()
      await expect(deliver(delivery)).rejects.toThrow('gone')
      isAway = false
      await deliver(delivery)
      expect(noted).toBe(1)
    })

    test('does not delay a delivery if its breaker cannot be written', async () => {
      const { deliver, steps } = aWorld(ok, {
        breaker: breaker({ note: () => Promise.reject(new Unavailable('redis', 'gone')) }),
      })
      await deliver(aDelivery())
      expect(steps).toContain('settle slot 0 acknowledged')
    })
  })

  test('a failed delivery whose copy was settled elsewhere during the POST does not wait a second time', async () => {
    const answers = [false, true]
    const { deliver, steps } = aWorld(down, { isSettled: async () => answers.shift() ?? true })
    await deliver(aDelivery())
    expect(steps).toEqual(['post https://client.example/hook attempt 1', 'report retry'])
  })

  describe('without a turn', () => {
    const admitWhile = (state: EndpointHealth['state']): Partial<DeliverDeps> => ({
      admit: async (admitted) => ({ admitted, health: { ...healthy, state } }),
    })

    test('no ordinary POST is made', async () => {
      const { withoutTurn, steps } = aWorld(ok)
      await expect(withoutTurn(aDelivery())).resolves.toBe(false)
      expect(steps).toEqual([])
    })

    test.each<[string, Partial<DeliverDeps>, string]>([
      ['settled', { isSettled: async () => true }, ''],
      ['withdrawn', { admit: async () => ({ admitted: { kind: 'withdrawn' }, health: healthy }) }, 'report withdrawn'],
      ['for an endpoint in its cool-down', admitWhile('open'), 'report retry'],
      ['not the probe', admitWhile('probing'), 'report retry'],
    ])('a delivery that is %s is completed', async (_name, change, last) => {
      const { withoutTurn, steps } = aWorld(ok, change)
      await expect(withoutTurn(aDelivery())).resolves.toBe(true)
      expect(steps.at(-1) ?? '').toBe(last)
    })

    test('the probe is sent', async () => {
      const breaker: DeliverDeps['breaker'] = {
        isFailing: () => false,
        claimProbe: async () => 'the probe',
        note: async () => {},
      }
      const { withoutTurn, steps } = aWorld(ok, { ...admitWhile('probing'), breaker })
      await expect(withoutTurn(aDelivery())).resolves.toBe(true)
      expect(steps).toContain('post https://client.example/hook attempt 1')
    })

    test('a delivery that was POSTed and could not be settled is settled', async () => {
      let isAway = true
      const { deliver, withoutTurn, steps } = aWorld(ok, {
        settle: async () => {
          if (isAway) throw new Unavailable('redis', 'gone')
        },
      })
      const delivery = aDelivery()
      await expect(deliver(delivery)).rejects.toThrow('gone')
      isAway = false
      await expect(withoutTurn(delivery)).resolves.toBe(true)
      expect(steps.filter((step) => step.startsWith('post'))).toHaveLength(1)
    })
  })

  test('a delivery that another worker settled meanwhile is not settled again', async () => {
    let isSettled = false
    const { deliver, steps } = aWorld(ok, {
      isSettled: async () => isSettled,
      settle: async () => Promise.reject(new Unavailable('redis', 'gone')),
    })
    const delivery = aDelivery()
    await expect(deliver(delivery)).rejects.toThrow('gone')
    isSettled = true
    await deliver(delivery)
    expect(steps).toEqual(['post https://client.example/hook attempt 1'])
  })
})

describe('the notice of a parked delivery', () => {
  const rejected: Outcome = { kind: 'answered', status: 400 }
  const away = () => Promise.reject(new Unavailable('rabbitmq', 'away'))

  test('is published after the delivery is parked and before its message is acknowledged', async () => {
    const world = aWorld(rejected)
    const { deliver } = aWorld(rejected, {
      park: async () => void world.steps.push('park'),
      noticeParked: async () => void world.steps.push('notice'),
      report: () => void world.steps.push('report'),
    })
    await deliver(aDelivery())
    expect(world.steps).toEqual(['park', 'report', 'notice'])
  })

  test('is published when the message comes back, without a POST, by the same or another worker', async () => {
    for (const isSameWorker of [true, false]) {
      let isSettled = false
      let isAway = true
      const steps: string[] = []
      const change: Partial<DeliverDeps> = {
        report: () => void steps.push('report'),
        isSettled: async () => isSettled,
        park: async () => {
          isSettled = true
        },
        post: async () => {
          steps.push('post')
          return rejected
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

  test('is not published for a delivered or waiting delivery', async () => {
    for (const outcome of [ok, down]) {
      const { deliver, steps } = aWorld(outcome, { noticeParked: () => Promise.reject(new Error('asked')) })
      await deliver(aDelivery())
      expect(steps.at(-1)).toMatch(/^report/)
    }
  })
})
