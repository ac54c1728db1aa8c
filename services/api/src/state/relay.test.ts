import { setImmediate as tick } from 'node:timers/promises'
import { newEventId, type PlatformEvent } from '@switchhook/contracts'
import type { OutboxEntry } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { startRelay } from './relay.ts'

const entry = (id: string): OutboxEntry => ({
  id,
  partition: 0,
  event: {
    eventId: newEventId(),
    eventType: 'call.status',
    occurredAt: '2026-11-20T17:06:01.173Z',
    tenant: 'acme',
    data: {},
  },
})
const entries = (count: number): OutboxEntry[] => Array.from({ length: count }, (_, at) => entry(String(at)))
const idsOf = (some: readonly OutboxEntry[]): string[] => some.map(({ id }) => id)

const relays: ReturnType<typeof startRelay>[] = []
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

/** A relay with an outbox in memory: `waiting` is what the next claims find. */
function relayUnderTest(
  publish: (event: PlatformEvent) => Promise<void> = async () => {},
  waiting: OutboxEntry[] = [],
  marked = Promise.resolve(),
) {
  const state = { waiting, claims: 0, marks: 0, sent: [] as string[], said: [] as string[], isRedisDown: false }
  const answer = () => {
    if (state.isRedisDown) throw new Error('down')
  }
  const relay = startRelay({
    publish,
    log: { info: (message) => state.said.push(message), warn: (message) => state.said.push(message) },
    outbox: {
      claim: async (max) => {
        state.claims += 1
        return waiting.splice(0, max)
      },
      sent: async (some) => {
        state.marks += 1
        await marked
        answer()
        state.sent.push(...idsOf(some))
      },
      giveBack: async (some) => {
        answer()
        waiting.push(...some)
      },
    },
  })
  relays.push(relay)
  return { relay, state }
}

test('passes do not wait for the marks of earlier ones', async () => {
  const { promise: areClaimed, resolve: marksGoOn } = Promise.withResolvers<void>()
  const { state } = relayUnderTest(async () => {}, entries(600), areClaimed)
  await eventually(() => expect(state.waiting).toHaveLength(0))
  marksGoOn()
  await eventually(() => expect(state.sent).toHaveLength(600))
})

describe('the events of commits', () => {
  test('of one tick are published in order, and marked together once confirmed', async () => {
    const published: PlatformEvent[] = []
    const { relay, state } = relayUnderTest(async (event) => void published.push(event))
    const claimed = entries(20)
    for (const one of claimed) relay.claimed([one])
    await eventually(() => expect(state.sent).toEqual(idsOf(claimed)))
    expect(published).toEqual(claimed.map(({ event }) => event))
    expect(state.marks).toBe(1)
  })

  test('are not marked before their confirm, and do not delay each other', async () => {
    const confirms: (() => void)[] = []
    const { relay, state } = relayUnderTest(() => new Promise<void>((resolve) => confirms.push(resolve)))
    relay.claimed(entries(2))
    confirms[1]?.()
    await eventually(() => expect(state.sent).toEqual(['1']))
    const stopped = relay.stop()
    confirms[0]?.()
    await stopped
    expect(state.sent).toEqual(['1', '0'])
  })

  test('are all marked if they are confirmed while others are marked', async () => {
    const { relay, state } = relayUnderTest()
    for (let at = 0; at < 200; at++) {
      relay.claimed([entry(String(at))])
      if (at % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
      else if (at % 3 === 0) await tick()
    }
    await eventually(() => expect(state.sent).toHaveLength(200))
  })

  test('are left in the outbox while too many are in progress', async () => {
    let confirm = (): void => {}
    const confirmed = new Promise<void>((resolve) => (confirm = resolve))
    const { relay } = relayUnderTest(() => confirmed)
    relay.claimed(entries(999))
    expect(relay.takesEvents()).toBe(true)
    relay.claimed([entry('999')])
    expect(relay.takesEvents()).toBe(false)
    confirm()
    await eventually(() => expect(relay.takesEvents()).toBe(true))
  })

  test('an outage of Redis is logged once, and the confirmed events are marked after it', async () => {
    const { relay, state } = relayUnderTest()
    state.isRedisDown = true
    relay.claimed(entries(2))
    await eventually(() => expect(state.marks).toBeGreaterThan(1))
    state.isRedisDown = false
    await eventually(() => expect(state.sent).toEqual(['0', '1']))
    expect(state.said).toEqual(['published events cannot be marked; retrying'])
  })

  test('stopping waits for the marks of what a pass is claiming just then', async () => {
    const claiming = Promise.withResolvers<OutboxEntry[]>()
    const sent: string[] = []
    const relay = startRelay({
      publish: async () => {},
      log: { info: () => {}, warn: () => {} },
      outbox: {
        claim: () => claiming.promise,
        sent: async (some) => {
          await tick()
          sent.push(...idsOf(some))
        },
        giveBack: async () => {},
      },
    })
    await tick()
    relay.claimed([entry('0')])
    const stopped = relay.stop()
    await eventually(() => expect(sent).toEqual(['0']))
    claiming.resolve([entry('1')])
    await stopped
    expect(sent).toEqual(['0', '1'])
  })

  test('stopping takes no more events, and finishes even without Redis', async () => {
    const { relay, state } = relayUnderTest()
    state.isRedisDown = true
    relay.claimed(entries(1))
    await relay.stop()
    expect(relay.takesEvents()).toBe(false)
  })
})

describe('a pass', () => {
  test('publishes all that it claims without waiting for confirms', async () => {
    let underWay = 0
    const confirmed = Promise.withResolvers<void>()
    const publish = async (): Promise<void> => {
      if (++underWay === 50) confirmed.resolve()
      await confirmed.promise
    }
    const { state } = relayUnderTest(publish, entries(50))
    await eventually(() => expect(state.sent).toHaveLength(50))
  })

  test('begins once a second, and immediately when a commit has left events', async () => {
    jest.useFakeTimers()
    try {
      const published: PlatformEvent[] = []
      const { relay, state } = relayUnderTest(async (event) => void published.push(event))
      await jest.advanceTimersByTimeAsync(10_500)
      expect(state.claims).toBe(11)
      const left = entry('left')
      state.waiting.push(left)
      relay.unclaimed()
      await jest.advanceTimersByTimeAsync(0)
      expect(published).toEqual([left.event])
      // The event is marked before the real clock returns.
      await jest.advanceTimersByTimeAsync(200)
      expect(state.sent).toEqual(['left'])
    } finally {
      jest.useRealTimers()
    }
  })

  test('claims no more than may be in progress', async () => {
    const confirmed = Promise.withResolvers<void>()
    const { relay, state } = relayUnderTest(() => confirmed.promise)
    await eventually(() => expect(state.claims).toBe(1))
    relay.claimed(entries(990))
    state.waiting.push(...entries(50))
    relay.unclaimed()
    await eventually(() => expect(state.waiting).toHaveLength(40))
    confirmed.resolve()
    await eventually(() => expect(state.sent).toHaveLength(1_040))
  })

  test('in an outage retries with a backoff, logs once and loses nothing; commits claim nothing meanwhile', async () => {
    let isDown = true
    const publish = async (): Promise<void> => {
      if (isDown) throw new Error('down')
    }
    const { relay, state } = relayUnderTest(publish, entries(300))
    relay.claimed([entry('of a commit')])
    await eventually(() => expect(state.claims).toBeGreaterThan(1))
    expect(relay.takesEvents()).toBe(false)
    const { claims } = state
    for (let i = 0; i < 100; i++) {
      relay.unclaimed()
      await tick()
    }
    expect(state.claims).toBeLessThanOrEqual(claims + 1)
    isDown = false
    await eventually(() => expect(new Set(state.sent).size).toBe(301))
    expect(state.sent).toHaveLength(301)
    await eventually(() => expect(relay.takesEvents()).toBe(true))
    expect(state.said).toEqual(['events cannot be relayed; they stay in the outbox', 'events are relayed again'])
  })

  test('in progress is finished by a stop', async () => {
    const confirmed = Promise.withResolvers<void>()
    const { relay, state } = relayUnderTest(() => confirmed.promise, entries(1))
    await eventually(() => expect(state.claims).toBe(1))
    const stopped = relay.stop()
    confirmed.resolve()
    await stopped
    expect(state).toMatchObject({ sent: ['0'], claims: 1 })
  })
})
