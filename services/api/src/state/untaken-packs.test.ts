import type { Broker, QueueDepth } from '@switchhook/messaging'
import { takePacksApart } from './untaken-packs.ts'

/** Ends while the queues of one shard look like this, one look after the other: the untaken packs, then those in the shard. */
async function end(looks: readonly (readonly [QueueDepth, QueueDepth])[], patienceMs = 60_000) {
  const consumed: string[] = []
  const warnings: string[] = []
  let looked = 0
  const consume: Broker['consume'] = async ({ queue }) => {
    consumed.push(queue)
    return { inFlight: () => 0, drain: async () => {} }
  }
  await takePacksApart({
    broker: {
      consume,
      publishUnpacked: async () => {},
      lookAt: async () => looks[Math.min(looked++, looks.length - 1)] ?? [],
    },
    eventShards: 1,
    installation: { recovered: async () => {} },
    patienceMs,
    log: { error: () => {}, warn: (message) => void warnings.push(message) },
  }).stop()
  return { consumed, looked, warnings }
}

const EMPTY = { ready: 0, consumers: 1 }
const TAKEN = { ready: 3, consumers: 1 }
const UNTAKEN = { ready: 3, consumers: 0 }

test('an api that ends looks once if no pack waits', async () => {
  expect(await end([[EMPTY, EMPTY]])).toEqual({ consumed: ['fanout.events.untaken'], looked: 1, warnings: [] })
})

test('an api that ends waits for packs that fan-out or another api still takes', async () => {
  const looks = [
    [TAKEN, EMPTY],
    [EMPTY, TAKEN],
    [EMPTY, EMPTY],
  ] as const
  expect(await end(looks)).toEqual({ consumed: ['fanout.events.untaken'], looked: 3, warnings: [] })
})

test('an api that ends takes packs that no fan-out takes', async () => {
  const looks = [
    [EMPTY, UNTAKEN],
    [EMPTY, TAKEN],
    [EMPTY, EMPTY],
  ] as const
  expect(await end(looks)).toMatchObject({ consumed: ['fanout.events.untaken', 'fanout.events.packs'], warnings: [] })
})

test('an api that ends does not wait for ever', async () => {
  expect(await end([[EMPTY, TAKEN]], 1)).toMatchObject({
    warnings: ['packs of events wait for a version that takes them'],
  })
})
