import { Unavailable } from '@switchhook/contracts'
import { anAttempt, type OpenedStore, useStore } from '@switchhook/servicekit'
import fc from 'fast-check'
import { aDeliveryWorld, type EndpointIs, type Point } from '../testing/one-delivery.ts'

let store: OpenedStore['store']

useStore((opened) => ({ store } = opened))

/** The point at which a worker dies. */
type Death = 'none' | Point

interface Handling {
  readonly death: Death
  readonly endpoint: EndpointIs
}

class Died extends Unavailable {
  constructor() {
    super('redis', 'this worker died')
  }
}

/** Each message is handled by a new worker. */
function aWorld() {
  const world = aDeliveryWorld(store)
  const { messages } = world
  return {
    ...world,
    /** The broker delivers one of the messages, and takes it back if its worker dies. */
    async handle(index: number, { death, endpoint }: Handling): Promise<void> {
      const [due] = messages.splice(index % messages.length, 1)
      if (due === undefined) return
      const at = async (point: Point): Promise<void> => {
        if (point === death) throw new Died()
      }
      await world
        .worker({ at, endpoint: () => endpoint })(due, 'due')
        .catch((error: unknown) => {
          if (!(error instanceof Died)) throw error
          messages.push(due)
        })
    },
    /** Delivers the messages in order until none is left. */
    async drain(): Promise<void> {
      for (let handled = 0; messages.length > 0; handled++) {
        if (handled > 200) throw new Error('messages circle')
        await this.handle(0, { death: 'none', endpoint: 'fails' })
      }
    },
  }
}

const dies = (death: Death): Handling => ({ death, endpoint: 'fails' })

test('a delivery that failed once keeps its schedule when its first message comes back after a disable', async () => {
  const world = aWorld()
  await world.handle(0, dies('confirmed'))
  expect(world.messages.map(({ slot, attempt }) => ({ slot, attempt }))).toEqual([
    { slot: 1, attempt: 1 },
    { slot: 0, attempt: 0 },
  ])
  world.set({ isEnabled: false })
  await world.handle(1, dies('none'))
  expect(await world.find()).toMatchObject({ state: 'withdrawn' })
  await world.handle(0, dies('none'))
  expect(await world.find()).toMatchObject({ state: 'waiting', attempt: 2 })
  world.set({ isWorking: true })
  await world.drain()
  expect(world.posts.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  expect(await world.find()).toMatchObject({ state: 'acknowledged', attempt: 3, nextAttemptAt: null })
})

test('a delivery that failed once keeps its schedule when a duplicate that was never POSTed is withdrawn in a later slot', async () => {
  const world = aWorld()
  await world.handle(0, dies('confirmed'))
  // The first message comes back during a cool-down. Now a second duplicate without an attempt waits.
  await world.handle(1, { death: 'none', endpoint: 'cooling' })
  world.set({ isEnabled: false })
  await world.handle(1, dies('none'))
  expect(await world.find()).toMatchObject({ state: 'withdrawn', slot: 1 })
  world.set({ isWorking: true })
  await world.drain()
  expect(world.posts.map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(await world.find()).toMatchObject({ state: 'acknowledged', attempt: 2 })
})

test('a delivery that failed once keeps its schedule when a duplicate that was never POSTed is one slot ahead of it', async () => {
  const world = aWorld()
  await world.handle(0, dies('confirmed'))
  await world.handle(1, { death: 'none', endpoint: 'cooling' })
  await world.handle(1, { death: 'none', endpoint: 'cooling' })
  expect(world.messages.map(({ slot, attempt }) => ({ slot, attempt }))).toEqual([
    { slot: 1, attempt: 1 },
    { slot: 2, attempt: 0 },
  ])
  world.set({ isEnabled: false, isWorking: true })
  await world.drain()
  expect(world.posts.map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(await world.find()).toMatchObject({ state: 'acknowledged', attempt: 2 })
})

test('a withdrawn delivery stays withdrawn, for every duplicate that was never POSTed, even if the subscription is enabled again', async () => {
  const world = aWorld()
  await world.handle(0, { death: 'confirmed', endpoint: 'cooling' })
  world.set({ isEnabled: false })
  await world.handle(1, dies('none'))
  world.set({ isEnabled: true, isWorking: true })
  await world.drain()
  expect(world.posts).toEqual([])
  expect(await world.find()).toMatchObject({ state: 'withdrawn', attempt: 0, attempts: [] })
})

test.each<[string, boolean, string]>([
  ['acknowledged', true, 'acknowledged'],
  ['rejected', false, 'parked'],
])('a POST that is %s elsewhere after its message was withdrawn counts', async (_what, isDelivered, state) => {
  const { first, find } = aWorld()
  await store.settle(first, null, { state: 'withdrawn' })
  const attempt = anAttempt(isDelivered ? {} : { outcome: 'answered', status: 410 })
  if (isDelivered) await store.settle(first, attempt, { state: 'acknowledged' })
  else await store.park(first, attempt, 'rejected')
  expect(await find()).toMatchObject({ state, attempt: 1, attempts: [attempt] })
  await store.settle(first, null, { state: 'withdrawn' })
  expect(await find()).toMatchObject({ state })
})

test('the worker that made a failed POST schedules its retry although another worker withdrew the message meanwhile', async () => {
  const world = aWorld()
  let isAway = true
  const at = async (point: Point): Promise<void> => {
    if (isAway && point === 'before the retry') throw new Unavailable('rabbitmq', 'away')
  }
  const deliver = world.worker({ at, endpoint: () => 'fails' })
  world.messages.length = 0
  await expect(deliver(world.first, 'due')).rejects.toThrow('away')
  await store.settle(world.first, null, { state: 'withdrawn' })
  isAway = false
  await deliver(world.first, 'due')
  expect(world.messages).toMatchObject([{ slot: 1, attempt: 1 }])
  expect(await world.find()).toMatchObject({ state: 'waiting', attempt: 1, attempts: [{ status: 503 }] })
})

test('a failed attempt whose retry is confirmed is never withdrawn, whenever workers die, cool-downs begin or the subscription is disabled', async () => {
  const anyHandling = fc.record({
    index: fc.nat({ max: 9 }),
    death: fc.constantFrom<Death[]>(
      'none',
      'before the POST',
      'before the retry',
      'confirmed',
      'before settling',
      'settled',
    ),
    endpoint: fc.constantFrom<EndpointIs[]>('fails', 'cooling', 'probed'),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyHandling, { maxLength: 10 }),
      fc.nat({ max: 10 }),
      fc.boolean(),
      async (handlings, disabledAt, isWorking) => {
        const world = aWorld()
        let isSafe = false
        for (const [i, { index, ...handling }] of handlings.entries()) {
          if (i === disabledAt) world.set({ isEnabled: false })
          await world.handle(index, handling)
          isSafe ||= world.messages.some(({ attempt }) => attempt > 0)
        }
        world.set({ isEnabled: false, isWorking })
        await world.drain()
        const found = await world.find()
        // Every first attempt was sent while the subscription was enabled.
        expect(world.posts.filter(({ attempt, wasEnabled }) => attempt === 1 && !wasEnabled)).toEqual([])
        if (isSafe) expect(['acknowledged', 'parked']).toContain(found?.state)
        if (isSafe && isWorking && found?.state === 'parked') expect(found.parkedReason).toBe('exhausted')
        if (world.posts.length > 0) return
        // Cool-downs can use up the whole schedule before the subscription is disabled.
        const isExhausted = found?.state === 'parked' && found.parkedReason === 'exhausted' && found.attempt === 0
        expect(isExhausted || found?.state === 'withdrawn').toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})
