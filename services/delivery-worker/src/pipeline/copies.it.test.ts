import { type Delivery, Unavailable } from '@switchhook/contracts'
import { type OpenedStore, useStore } from '@switchhook/servicekit'
import fc from 'fast-check'
import { aDeliveryWorld, type Point, WAITS_MS } from '../testing/one-delivery.ts'
import type { Pipeline } from './pipeline.ts'

const WORKERS = 3
const ATTEMPTS = WAITS_MS.length + 1

let store: OpenedStore['store']

useStore((opened) => ({ store } = opened))

/** What one worker meets: how often it is overtaken at each point, and where it fails without dying. */
const anyWorker = fc.record({
  ticks: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 7 }),
  failures: fc.array(fc.constantFrom<Point[]>('before the retry', 'confirmed', 'before settling', 'settled'), {
    maxLength: 4,
  }),
  cooling: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
})

/** Draws the values of a list one after the other, again and again. */
function cycle<T>(values: readonly T[]): () => T | undefined {
  let drawn = 0
  return () => values[drawn++ % values.length]
}

test('of any number of copies, whatever fails while no worker dies, one is left after every slot', async () => {
  const anyWorkers = fc.array(anyWorker, { minLength: WORKERS, maxLength: WORKERS })
  await fc.assert(
    fc.asyncProperty(
      anyWorkers,
      fc.integer({ min: 1, max: 5 }),
      fc.nat({ max: 12 }),
      async (options, copies, worksAt) => {
        const world = aDeliveryWorld(store)
        let [round, failed] = [0, 0]
        const workers = options.map(({ ticks, failures, cooling }): Pipeline['deliver'] => {
          const [left, nextTicks, nextCooling] = [[...failures], cycle(ticks), cycle(cooling)]
          return world.worker({
            endpoint: () => (nextCooling() === true ? 'cooling' : 'fails'),
            at: async (point) => {
              for (let count = nextTicks() ?? 0; count > 0; count--) await new Promise(setImmediate)
              const place = left.indexOf(point)
              if (place < 0) return
              left.splice(place, 1)
              failed += 1
              throw new Unavailable('redis', 'away')
            },
          })
        })
        /** The worker holds a message while Redis or the broker is away, and handles it again. */
        const handle = async (due: Delivery, deliver: Pipeline['deliver'] | undefined): Promise<void> => {
          for (;;) {
            try {
              return await deliver?.(due, 'due')
            } catch (error) {
              if (!(error instanceof Unavailable)) throw error
            }
          }
        }
        world.messages.push(...Array.from({ length: copies - 1 }, () => world.first))
        // A wait is longer than it takes to settle a slot: what is published in one round falls due in the next.
        for (; world.messages.length > 0 && round < 30; round++) {
          failed = 0
          if (round >= worksAt) world.set({ isWorking: true })
          const due = world.messages.splice(0)
          await Promise.all(due.map((message, i) => handle(message, workers.at((i + round) % WORKERS))))
          expect(world.messages.length).toBeLessThanOrEqual((round === 0 ? copies : 1) + failed)
        }
        const made = (attempt: number): number => world.posts.filter((post) => post.attempt === attempt).length
        expect(made(1)).toBeLessThanOrEqual(WORKERS)
        for (let attempt = 2; attempt <= ATTEMPTS; attempt++) expect(made(attempt)).toBeLessThanOrEqual(1)
        expect(world.messages).toEqual([])
        const { state, attempt } = (await world.find()) ?? {}
        expect(['acknowledged', 'parked']).toContain(state)
        expect(attempt).toBe(Math.max(...world.posts.map((post) => post.attempt)))
      },
    ),
    { numRuns: 300 },
  )
})
