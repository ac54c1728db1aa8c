import { setImmediate as tick } from 'node:timers/promises'
import { newEventId, type PlatformEvent } from '@switchhook/contracts'
import type { OutboxEntry } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { startCommitRelay } from './commit-relay.ts'

const entry = (id: string): OutboxEntry => ({
  id,
  partition: 0,
  event: {
    eventId: newEventId(),
    eventType: 'call.status',
    occurredAt: '2026-11-20T17:06:01.173Z',
    tenant: 'a',
    data: {},
  },
})
const entries = (count: number): OutboxEntry[] => Array.from({ length: count }, (_, at) => entry(String(at)))

/** A relay whose outbox lists what it was told. */
function relayUnderTest(publish: (event: PlatformEvent) => Promise<void> = async () => {}) {
  const state = { sent: [] as string[], calls: 0, back: [] as string[], nudges: 0, isRedisDown: false, warnings: 0 }
  const relay = startCommitRelay({
    name: 'relay-1',
    publish,
    nudge: () => void state.nudges++,
    log: { warn: () => void state.warnings++ },
    outbox: {
      sent: async (some) => {
        state.calls += 1
        if (state.isRedisDown) throw new Error('down')
        state.sent.push(...some.map(({ id }) => id))
      },
      giveBack: async (some) => {
        if (state.isRedisDown) throw new Error('down')
        state.back.push(...some.map(({ id }) => id))
      },
    },
  })
  return { relay, state }
}

test('the events of one tick are published in order, and marked together once confirmed', async () => {
  const published: PlatformEvent[] = []
  const { relay, state } = relayUnderTest(async (event) => void published.push(event))
  const claimed = entries(20)
  for (const one of claimed) relay.claimed([one])
  await eventually(() => expect(state.sent).toHaveLength(20))
  expect(published).toEqual(claimed.map(({ event }) => event))
  expect(state).toMatchObject({ sent: claimed.map(({ id }) => id), back: [], calls: 1 })
})

test('an event is not marked before its confirm, and does not delay the others of its commit', async () => {
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

test('an event that cannot be published is given back, the relay is woken, and commits claim nothing for a while', async () => {
  const { relay, state } = relayUnderTest(() => Promise.reject(new Error('no broker')))
  expect(relay.takesEvents()).toBe(true)
  relay.claimed(entries(3))
  await eventually(() => expect(state).toMatchObject({ back: ['0', '1', '2'], sent: [], nudges: 1 }))
  expect(relay.takesEvents()).toBe(false)
})

test('an outage of Redis is logged once, and the confirmed events are marked after it', async () => {
  const { relay, state } = relayUnderTest()
  state.isRedisDown = true
  relay.claimed(entries(2))
  await eventually(() => expect(state.calls).toBeGreaterThan(1))
  state.isRedisDown = false
  await eventually(() => expect(state.sent).toEqual(['0', '1']))
  expect(state.warnings).toBe(1)
})

test('a confirm that arrives while others are marked is marked too', async () => {
  const { relay, state } = relayUnderTest()
  for (let at = 0; at < 200; at++) {
    relay.claimed([entry(String(at))])
    if (at % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    else if (at % 3 === 0) await tick()
  }
  await eventually(() => expect(state.sent).toHaveLength(200))
})

test('too many events in progress are left to the outbox relay', async () => {
  const { relay } = relayUnderTest(() => new Promise(() => {}))
  relay.claimed(entries(999))
  expect(relay.takesEvents()).toBe(true)
  relay.claimed([entry('999')])
  expect(relay.takesEvents()).toBe(false)
})

test('stopping takes no more events, and finishes even without Redis', async () => {
  const { relay, state } = relayUnderTest()
  state.isRedisDown = true
  relay.claimed(entries(1))
  await relay.stop()
  expect(relay.takesEvents()).toBe(false)
})
