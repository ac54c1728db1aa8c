import { type Delivery, Unavailable } from '@switchhook/contracts'
import { type OpenedStore, useStore } from '@switchhook/servicekit'
import fc from 'fast-check'
import { aDeliveryWorld, type EndpointIs, type Point, WAITS_MS } from '../testing/one-delivery.ts'
import type { Pipeline } from './pipeline.ts'

const WORKERS = 3
const ATTEMPTS = WAITS_MS.length + 1

let store: OpenedStore['store']

useStore((opened) => ({ store } = opened))

/** What one worker meets: how often it is overtaken at each point, and where it fails without dying. */
const anyWorkerSeeing = (states: readonly EndpointIs[]) =>
  fc.record({
    ticks: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 7 }),
    failures: fc.array(fc.constantFrom<Point[]>('before the retry', 'confirmed', 'before settling', 'settled'), {
      maxLength: 4,
    }),
    states: fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 5 }),
  })

/** Draws the values of a list one after the other, again and again. */
function cycle<T>(values: readonly T[]): () => T | undefined {
  let drawn = 0
  return () => values[drawn++ % values.length]
}

test.each<[string, EndpointIs[]]>([
  ['one is left after every slot', ['fails', 'cooling']],
  ['none is added because of probes', ['fails', 'cooling', 'probed']],
])('of any number of duplicates, whatever fails while no worker dies, %s', async (_what, seen) => {
  const isProbed = seen.includes('probed')
  const anyWorkers = fc.array(anyWorkerSeeing(seen), { minLength: WORKERS, maxLength: WORKERS })
  await fc.assert(
    fc.asyncProperty(
      anyWorkers,
      fc.integer({ min: 1, max: 5 }),
      fc.nat({ max: 12 }),
      async (options, duplicates, worksAt) => {
        const world = aDeliveryWorld(store)
        let [round, failed, failedInAll] = [0, 0, 0]
        const workers = options.map(({ ticks, failures, states }): Pipeline['deliver'] => {
          const [left, nextTicks, nextState] = [[...failures], cycle(ticks), cycle(states)]
          return world.worker({
            endpoint: () => nextState() ?? 'fails',
            at: async (point) => {
              for (let count = nextTicks() ?? 0; count > 0; count--) await new Promise(setImmediate)
              const place = left.indexOf(point)
              if (place < 0) return
              left.splice(place, 1)
              failed += 1
              failedInAll += 1
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
        world.messages.push(...Array.from({ length: duplicates - 1 }, () => world.first))
        // A wait is longer than it takes to settle a slot: what is published in one round falls due in the next.
        for (; world.messages.length > 0 && round < 30; round++) {
          failed = 0
          if (round >= worksAt) world.set({ isWorking: true })
          const due = world.messages.splice(0)
          await Promise.all(due.map((message, i) => handle(message, workers.at((i + round) % WORKERS))))
          // One can be postponed because of a probe, and another one use up the slot.
          expect(world.messages.length).toBeLessThanOrEqual((round === 0 || isProbed ? due.length : 1) + failed)
        }
        const made = (attempt: number): number => world.posts.filter((post) => post.attempt === attempt).length
        const more = isProbed ? duplicates - 1 + failedInAll : 0
        expect(made(1)).toBeLessThanOrEqual(WORKERS + more)
        for (let attempt = 2; attempt <= ATTEMPTS; attempt++) expect(made(attempt)).toBeLessThanOrEqual(1 + more)
        expect(world.messages).toEqual([])
        const { state, attempt } = (await world.find()) ?? {}
        expect(['acknowledged', 'parked']).toContain(state)
        expect(attempt).toBe(Math.max(0, ...world.posts.map((post) => post.attempt)))
      },
    ),
    { numRuns: 300 },
  )
})
