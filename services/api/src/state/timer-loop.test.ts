import { setTimeout as sleep } from 'node:timers/promises'
import { answerWithin } from '@switchhook/runtime'
import type { DueTimer, StateChange, TimerStore } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { announceTimers, createTimerLoop } from './timer-loop.ts'

/** A timer store in memory. A timer of `due` is claimed once, unless its owner is left, and stays claimed until it is done. */
function handOut(maxHandleMs?: number) {
  const due: DueTimer[] = []
  const done: string[] = []
  const extended: string[] = []
  const warnings: string[] = []
  const state = { isAway: false, looks: 0 }
  const store: Pick<TimerStore, 'claimDue' | 'extend' | 'done'> = {
    claimDue: async (max, _leaseMs, leftOwners = []) => {
      state.looks += 1
      if (state.isAway) throw new Error('redis is away')
      const claimed = due.filter(({ id }) => !leftOwners.includes(id.split(':')[0] ?? '')).slice(0, max)
      due.splice(0, due.length, ...due.filter((one) => !claimed.includes(one)))
      return claimed
    },
    extend: async (timers) => void extended.push(...timers.map(({ id }) => id)),
    done: async (timers) => void done.push(...timers.map(({ id }) => id)),
  }
  return {
    due,
    done,
    extended,
    warnings,
    state,
    loop: createTimerLoop(store, { warn: (message) => void warnings.push(message) }, maxHandleMs),
  }
}

const timer = (id: string): DueTimer => ({ id, tenant: 'acme', payload: id, stored: id })

describe('the loop', () => {
  let loop: ReturnType<typeof createTimerLoop>
  afterEach(() => loop.stop())

  test('a timer goes to the owner before the first colon of its id, and is then done', async () => {
    const world = handOut()
    loop = world.loop
    const handled: unknown[] = []
    world.due.push(timer('agent:sip:alice@acme.example:until'), timer('audit:1'))
    loop.start({
      agent: async ({ payload }) => void handled.push(['agent', payload]),
      audit: async ({ payload }) => void handled.push(['audit', payload]),
    })
    await eventually(() => expect(world.done).toHaveLength(2))
    expect(handled).toEqual([
      ['agent', 'agent:sip:alice@acme.example:until'],
      ['audit', 'audit:1'],
    ])
  })

  test('a timer whose owner fails is not done, and does not delay others', async () => {
    const world = handOut()
    loop = world.loop
    world.due.push(timer('bad:1'), timer('good:1'))
    loop.start({ bad: () => Promise.reject(new Error('redis is away')), good: async () => {} })
    await eventually(() => expect(world.done).toEqual(['good:1']))
    expect(world.warnings).toHaveLength(1)
  })

  test('a timer without an owner is done, because a later or earlier version may have set it', async () => {
    const world = handOut()
    loop = world.loop
    world.due.push(timer('nobody:1'))
    loop.start({})
    await eventually(() => expect(world.done).toEqual(['nobody:1']))
  })

  describe('with an owner that hangs', () => {
    let world: ReturnType<typeof handOut>
    let begun: string[]
    let answer: ReturnType<typeof Promise.withResolvers<void>>
    beforeEach(() => {
      world = handOut()
      loop = world.loop
      begun = []
      answer = Promise.withResolvers()
    })
    afterEach(() => answer.resolve())

    function start(): void {
      loop.start({
        pbx: ({ payload }) => {
          begun.push(String(payload))
          return answer.promise
        },
        recovery: async () => {},
      })
    }

    test('the timers of other owners are handled meanwhile, however many hang', async () => {
      world.due.push(...Array.from({ length: 1_000 }, (_, n) => timer(`pbx:${n}`)), timer('recovery:1'))
      start()
      await eventually(() => expect(world.done).toEqual(['recovery:1']))
      expect(begun.length).toBeLessThan(500)
      // No timer was claimed that is not begun: the others stay overdue.
      expect(begun.length + world.due.length).toBe(1_000)
      expect(world.warnings).toEqual(['too many timers of an owner are in progress; its further timers are left'])
      world.due.push(timer('recovery:2'))
      await eventually(() => expect(world.done).toEqual(['recovery:1', 'recovery:2']))
    })

    test('the timers that were left are handled as soon as the owner answers again', async () => {
      world.due.push(...Array.from({ length: 300 }, (_, n) => timer(`pbx:${n}`)))
      start()
      await eventually(() => expect(begun.length).toBeGreaterThanOrEqual(200))
      await eventually(() => expect(world.warnings).toHaveLength(1))
      answer.resolve()
      await answerWithin(
        2_000,
        eventually(() => expect(world.done).toHaveLength(300)),
        'they wait for a lease',
      )
    })

    test('a timer whose handler takes too long is left to its lease, and a later one of its id is handled', async () => {
      world = handOut(2_500)
      loop = world.loop
      world.due.push(timer('pbx:1'))
      start()
      await eventually(() => expect(world.extended).toEqual(['pbx:1']))
      world.due.push({ ...timer('pbx:1'), stored: 'set again' })
      await eventually(() => expect(begun).toHaveLength(2))
      expect(world.warnings).toEqual(['a timer could not be handled; it will be retried'])
      // The first one, after its lease.
      world.due.push(timer('pbx:1'))
      answer.resolve()
      await eventually(() => expect(begun).toHaveLength(3))
    })

    test('a timer that is claimed again meanwhile is not handled twice, and its lease is extended', async () => {
      world.due.push(timer('pbx:1'))
      start()
      await eventually(() => expect(world.extended).toEqual(['pbx:1']))
      world.due.push(timer('pbx:1'))
      await eventually(() => expect(world.due).toEqual([]))
      answer.resolve()
      await eventually(() => expect(world.done).toEqual(['pbx:1']))
      expect(begun).toEqual(['pbx:1'])
    })

    test('a timer that was set again meanwhile is handled after the one before it', async () => {
      world.due.push(timer('pbx:1'))
      start()
      await eventually(() => expect(begun).toHaveLength(1))
      world.due.push({ ...timer('pbx:1'), stored: 'set again' }, timer('recovery:1'))
      await eventually(() => expect(world.done).toEqual(['recovery:1']))
      expect(begun).toHaveLength(1)
      answer.resolve()
      await eventually(() => expect(world.done).toEqual(['recovery:1', 'pbx:1', 'pbx:1']))
    })

    test('a stop waits for the timers in progress', async () => {
      world.due.push(timer('pbx:1'), timer('recovery:1'))
      start()
      await eventually(() => expect(world.done).toEqual(['recovery:1']))
      const stopped = loop.stop().then(() => [...world.done])
      await sleep(300)
      answer.resolve()
      expect(await stopped).toEqual(['recovery:1', 'pbx:1'])
    })
  })

  test('an expected timer wakes the loop before the next poll', async () => {
    const world = handOut()
    loop = world.loop
    loop.start({ agent: async () => {} })
    await eventually(() => expect(world.state.looks).toBeGreaterThan(0))
    world.due.push(timer('agent:1'))
    loop.expect(20)
    const isDone = eventually(() => expect(world.done).toEqual(['agent:1']))
    await answerWithin(400, isDone, 'only the poll after 500 ms found it')
  })

  test('an outage of the store is logged once, and the loop survives it', async () => {
    const world = handOut()
    loop = world.loop
    world.state.isAway = true
    loop.start({ agent: async () => {} })
    await eventually(() => expect(world.state.looks).toBeGreaterThan(2))
    expect(world.warnings).toHaveLength(1)
    world.state.isAway = false
    world.due.push(timer('agent:1'))
    await eventually(() => expect(world.done).toEqual(['agent:1']))
  })
})

const change: StateChange = {
  records: [],
  events: [],
  timers: [{ id: 'recovery:1', dueInMs: 5, payload: {} }],
}

test.each([
  ['committed', [change.timers]],
  ['conflict', []],
] as const)('after %s, the timers that are announced are %j', async (result, expected) => {
  const announced: StateChange['timers'][] = []
  const store = announceTimers({ read: async () => [], commit: async () => result }, (timers) => announced.push(timers))
  expect(await store.commit('acme', change)).toBe(result)
  expect(announced).toEqual(expected)
})
