import { newEventId, type PlatformEvent, serialiseEvent, Unavailable } from '@switchhook/contracts'
import type { SingleEvent } from '@switchhook/messaging'
import { type BacklogDeps, createHandlePack } from './backlog.ts'
import { decodePack } from './pack.ts'

const anEvent = (): PlatformEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:30:00.000Z',
  tenant: 'acme',
  data: {},
})
const singleOf = (event: PlatformEvent): SingleEvent => ({
  content: serialiseEvent(event),
  eventType: event.eventType,
})

function record(change: Partial<BacklogDeps> = {}) {
  const handled: PlatformEvent[] = []
  const alone: SingleEvent[] = []
  const repacked: SingleEvent[] = []
  const errors: string[] = []
  let turns = 0
  const handlePack = createHandlePack({
    takeTurn: () => {
      turns += 1
      return true
    },
    giveBack: () => (turns -= 1),
    handle: async (event) => void handled.push(event),
    publishAlone: async (event) => void alone.push(event),
    publishPack: async (content) => void repacked.push(...decodePack({ content, headers: {} }).events),
    log: { error: (message) => errors.push(message), warn: (message) => errors.push(message) },
    ...change,
  })
  return { handlePack, handled, alone, repacked, errors, turnsInUse: () => turns }
}

const events = Array.from({ length: 100 }, anEvent)
const [bad, ...good] = events as [PlatformEvent, ...PlatformEvent[]]
const pack = { events: events.map(singleOf), returns: 0 }

test('every event of a pack is handled, with its trace context', async () => {
  const { handlePack, handled, turnsInUse } = record()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await handlePack({ events: [{ ...singleOf(bad), traceparent }, ...good.map(singleOf)], returns: 4 })
  expect(handled).toEqual([{ ...bad, traceparent }, ...good])
  expect(turnsInUse()).toBe(0)
})

test('an event that fails is published alone, and the other 99 are handled', async () => {
  const handled: PlatformEvent[] = []
  const { handlePack, alone, errors } = record({
    handle: async (event) => {
      if (event.eventId === bad.eventId) throw new TypeError('a bug')
      handled.push(event)
    },
  })
  await handlePack(pack)
  expect(handled).toEqual(good)
  expect(alone).toEqual([singleOf(bad)])
  expect(errors).toHaveLength(1)
})

test('an event that cannot be parsed is published alone, and the others are handled', async () => {
  const { handlePack, handled, alone } = record()
  const broken = { content: Buffer.from('{'), eventType: 'call.status' }
  await handlePack({ events: [broken, ...good.map(singleOf)], returns: 0 })
  expect(handled).toEqual(good)
  expect(alone).toEqual([broken])
})

test.each<[string, Partial<BacklogDeps>]>([
  ['a dependency is away', { handle: () => Promise.reject(new Unavailable('redis', 'away')) }],
  [
    'a failed event cannot be published',
    {
      handle: () => Promise.reject(new TypeError('a bug')),
      publishAlone: () => Promise.reject(new Unavailable('rabbitmq', 'away')),
    },
  ],
])('if %s, the pack is rejected with Unavailable and holds no turns', async (_case, change) => {
  const { handlePack, turnsInUse } = record(change)
  await expect(handlePack(pack)).rejects.toThrow(Unavailable)
  expect(turnsInUse()).toBe(0)
})

test('a pack that was returned five times is taken apart unhandled: one of its events may end the process', async () => {
  const { handlePack, handled, alone } = record()
  await handlePack({ ...pack, returns: 5 })
  expect(handled).toEqual([])
  expect(alone).toEqual(pack.events)
})

test('when turns end, the events without one are stored in a new pack', async () => {
  let left = 10
  const { handlePack, handled, repacked } = record({ takeTurn: () => left-- > 0 })
  await handlePack(pack)
  expect(handled).toEqual(events.slice(0, 10))
  expect(repacked).toEqual(pack.events.slice(10))
})
