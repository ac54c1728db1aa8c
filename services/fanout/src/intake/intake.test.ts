import { newEventId, type PlatformEvent, serialiseEvent, Unavailable } from '@switchhook/contracts'
import type { SingleEvent } from '@switchhook/messaging'
import { createMetrics } from '@switchhook/runtime'
import { eventually } from '@switchhook/testkit'
import { type Intake, startIntake } from './intake.ts'

const intakes: Intake[] = []

afterEach(async () => {
  await Promise.all(intakes.splice(0).map((intake) => intake.stopPolls()))
})

/** One event is handled at a time, until `finish` is called. */
function anIntake() {
  const handled: (PlatformEvent & { readonly queue: string })[] = []
  const packed: SingleEvent[] = []
  const finishing: PromiseWithResolvers<number>[] = []
  const intake = startIntake({
    bounds: { handled: { direct: 1, fromBacklogs: 1 } },
    handle: (event, _publish, queue) => {
      handled.push({ ...event, queue })
      const finished = Promise.withResolvers<number>()
      finishing.push(finished)
      return finished.promise
    },
    broker: {
      publishDelivery: async () => {},
      publishPacket: async () => {},
      publishYielding: async () => {},
      publishYieldingPacket: async () => {},
      publishEventPacket: async (events) => void packed.push(...events),
      queueDepths: async (queues) => queues.map(() => 0),
    },
    deliveryShards: 1,
    metrics: createMetrics('fanout'),
  })
  intakes.push(intake)
  const receive = (tenant: string, isUnpacked = false) => {
    const event = eventOf(tenant)
    const { eventId } = event
    return { eventId, done: intake.take({ queue: 'q', event, content: Buffer.from(eventId), isUnpacked }) }
  }
  return {
    intake,
    receive,
    handled,
    packed,
    finish: () => finishing.shift()?.resolve(1),
    fail: (error: Error) => finishing.shift()?.reject(error),
  }
}

const eventOf = (tenant: string) =>
  ({
    eventId: newEventId(),
    eventType: 'call.status',
    tenant,
    occurredAt: '2026-11-22T12:00:00.000Z',
    data: {},
    revision: 'r1',
  }) as const

test('once a tenant is deferred, its waiting events are packed too; those of others still begin', async () => {
  const { receive, handled, packed, finish } = anIntake()
  const direct = Array.from({ length: 30 }, () => receive('burst'))
  const alone = receive('burst', true)
  const small = receive('small')
  const over = receive('burst')
  await Promise.all([...direct.slice(1), over].map(({ done }) => done))
  const idsPacked = packed.map(({ content }) => content.toString())
  expect(new Set(idsPacked)).toEqual(new Set([...direct.slice(1), over].map(({ eventId }) => eventId)))
  expect(new Set(packed.map(({ revision }) => revision))).toEqual(new Set(['r1']))
  finish()
  await direct[0]?.done
  for (const { done } of [alone, small]) {
    await new Promise(setImmediate)
    finish()
    await done
  }
  const ids = [direct[0], alone, small].map((received) => received?.eventId)
  expect(handled.map(({ eventId, queue }) => [eventId, queue])).toEqual(ids.map((id) => [id, 'q']))
})

/** Takes a packet of three events from backlog 7, of which only the first may begin. */
async function aBacklogPacket() {
  const { intake, handled, ...parts } = anIntake()
  const events = ['a', 'b', 'c'].map((tenant) => eventOf(tenant))
  const singles = events.map((event) => ({ content: serialiseEvent(event), eventType: event.eventType }))
  const taken = singles.map(intake.openBacklogPacket(7))
  await eventually(() =>
    expect(handled.map(({ tenant, queue }) => [tenant, queue])).toEqual([['a', 'fanout.backlog.7']]),
  )
  return { ...parts, intake, handled, singles, results: Promise.allSettled(taken) }
}

test('an event of a backlog whose wait is ended goes into a new packet, and the others are handled', async () => {
  const { intake, handled, packed, singles, finish, results } = await aBacklogPacket()
  intake.stop()
  finish()
  expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  expect([handled.length, packed]).toEqual([1, singles.slice(1)])
})

test.each<[string, Error, number]>([
  [
    'an event that fails while something is away lets no other of its packet begin',
    new Unavailable('redis', 'away'),
    1,
  ],
  ['an event that meets a bug holds up no other of its packet', new TypeError('a bug'), 3],
])('%s', async (_name, error, begun) => {
  const { handled, packed, fail, finish, results } = await aBacklogPacket()
  fail(error)
  for (let n = 0; n < 2; n++) {
    await new Promise(setImmediate)
    finish()
  }
  const statuses = ['rejected', ...Array<string>(2).fill(begun === 1 ? 'rejected' : 'fulfilled')]
  expect((await results).map(({ status }) => status)).toEqual(statuses)
  expect([handled.length, packed]).toEqual([begun, []])
})
