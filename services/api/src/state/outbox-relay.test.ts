import { newEventId, type PlatformEvent } from '@switchhook/contracts'
import type { OutboxEntry } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { relayOnce, startOutboxRelay } from './outbox-relay.ts'

const event = (): PlatformEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T17:06:01.173Z',
  tenant: 'acme',
  data: {},
})

/** An outbox in memory: events that are not marked sent are claimed again. */
function outboxOf(...events: PlatformEvent[]) {
  const entries = new Map(events.map((event, at) => [String(at), event]))
  return {
    claims: 0,
    entries,
    async claim(max: number): Promise<OutboxEntry[]> {
      this.claims += 1
      return [...entries].slice(0, max).map(([id, event]) => ({ id, event, partition: 0 }))
    },
    async sent(sent: readonly OutboxEntry[]): Promise<void> {
      for (const { id } of sent) entries.delete(id)
    },
  }
}

const relays: ReturnType<typeof startOutboxRelay>[] = []
const silent = { info: () => {}, warn: () => {} }

afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()))
})

test('a pass publishes what it claims and marks it sent', async () => {
  const events = [event(), event(), event()]
  const outbox = outboxOf(...events)
  const published: PlatformEvent[] = []
  const publish = async (one: PlatformEvent): Promise<void> => void published.push(one)
  expect(await relayOnce({ outbox, publish, log: silent }, 2)).toBe(2)
  expect(published).toEqual(events.slice(0, 2))
  expect([...outbox.entries.values()]).toEqual(events.slice(2))
})

test('confirmed events leave the outbox, the others stay', async () => {
  const [good, bad] = [event(), event()]
  const outbox = outboxOf(bad, good)
  const publish = async (one: PlatformEvent): Promise<void> => {
    if (one === bad) throw new Error('nacked')
  }
  await expect(relayOnce({ outbox, publish, log: silent }, 10)).rejects.toThrow('nacked')
  expect([...outbox.entries.values()]).toEqual([bad])
})

test('a pass publishes all its events without waiting for confirms', async () => {
  const outbox = outboxOf(...Array.from({ length: 50 }, event))
  let underWay = 0
  let confirm = (): void => {}
  const confirmed = new Promise<void>((resolve) => (confirm = resolve))
  const publish = async (): Promise<void> => {
    if (++underWay === 50) confirm()
    await confirmed
  }
  expect(await relayOnce({ outbox, publish, log: silent }, 100)).toBe(50)
})

test('an idle relay polls once a second', async () => {
  jest.useFakeTimers()
  try {
    const outbox = outboxOf()
    const relay = startOutboxRelay({ outbox, log: silent, publish: async () => {} })
    relays.push(relay)
    await jest.advanceTimersByTimeAsync(10_500)
    expect(outbox.claims).toBe(11)
  } finally {
    jest.useRealTimers()
  }
})

test('a nudge starts a pass immediately, also a nudge during a pass', async () => {
  jest.useFakeTimers()
  try {
    const outbox = outboxOf()
    const published: PlatformEvent[] = []
    const relay = startOutboxRelay({
      outbox,
      log: silent,
      publish: async (one) => {
        published.push(one)
        if (published.length === 1) {
          outbox.entries.set('late', event())
          relay.nudge()
        }
      },
    })
    relays.push(relay)
    await jest.advanceTimersByTimeAsync(0)
    expect(outbox.claims).toBe(1)
    outbox.entries.set('first', event())
    relay.nudge()
    await jest.advanceTimersByTimeAsync(0)
    expect(published).toHaveLength(2)
  } finally {
    jest.useRealTimers()
  }
})

test('in an outage the relay retries, logs once, and loses nothing', async () => {
  const events = Array.from({ length: 300 }, event)
  const outbox = outboxOf(...events)
  const published = new Set<PlatformEvent>()
  const said: string[] = []
  let isDown = true
  const relay = startOutboxRelay({
    outbox,
    log: { info: (message) => said.push(message), warn: (message) => said.push(message) },
    publish: async (one) => {
      if (isDown) throw new Error('down')
      published.add(one)
    },
  })
  relays.push(relay)
  await eventually(() => expect(outbox.claims).toBeGreaterThan(1))
  const claims = outbox.claims
  for (let i = 0; i < 100; i++) {
    relay.nudge()
    await new Promise(setImmediate)
  }
  expect(outbox.claims).toBeLessThanOrEqual(claims + 1)
  isDown = false
  await eventually(() => expect(published.size).toBe(300))
  await eventually(() => expect(outbox.entries.size).toBe(0))
  expect(said).toEqual(['events cannot be relayed; they stay in the outbox', 'events are relayed again'])
})

test('stopping finishes the batch in progress', async () => {
  const outbox = outboxOf(event())
  let confirm = (): void => {}
  const confirmed = new Promise<void>((resolve) => (confirm = resolve))
  const relay = startOutboxRelay({ outbox, log: silent, publish: () => confirmed })
  await eventually(() => expect(outbox.claims).toBe(1))
  const stopped = relay.stop()
  confirm()
  await stopped
  expect(outbox.entries.size).toBe(0)
  expect(outbox.claims).toBe(1)
})
