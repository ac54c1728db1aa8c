import type { InstallationId } from '@switchhook/contracts'
import { backlogQueues, Queue, type QueueSample } from '@switchhook/messaging'
import type { InstallationStore, Ruling, StoredInstallation } from '@switchhook/store'
import { type InstallationCommand, parseCommand, runCommand } from './installation-command.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000000' as InstallationId
const B = 'bbbbbbbb-0000-4000-8000-000000000000' as InstallationId

test.each<[string, InstallationCommand]>([
  ['show', { name: 'show', limit: 5 }],
  ['show --limit 3', { name: 'show', limit: 3 }],
  [`adopt ${A}`, { name: 'adopt', id: A }],
  [`discard ${A.toUpperCase()}`, { name: 'discard', id: A }],
])('"%s" is parsed', (line, expected) => {
  expect(parseCommand(line.split(' ').filter(Boolean))).toEqual(expected)
})

test.each([
  ['', 'expected show, adopt or discard'],
  ['drop', 'expected show, adopt or discard'],
  [`show ${A}`, 'expected show, adopt or discard'],
  ['adopt', 'adopt needs the id of an installation, which is a GUID'],
  ['discard all', 'discard needs the id of an installation, which is a GUID'],
  [`adopt ${A} ${B}`, `unexpected argument: ${B}`],
  ['show --limit 0', '--limit must be a whole number of at least 1'],
])('"%s" is refused', (line, problem) => {
  expect(() => parseCommand(line.split(' ').filter(Boolean))).toThrow(problem)
})

/** An installation store in memory. */
function storeHolding(present?: StoredInstallation) {
  let stored = present
  const installation: InstallationStore = {
    read: async () => stored,
    establish: async (id) => (stored ??= { id, createdAtMs: 5, rulings: new Map() }),
    decide: async (id, ruling) => {
      if (stored !== undefined) stored = { ...stored, rulings: new Map([...stored.rulings, [id, ruling]]) }
    },
  }
  const deps = (samples: readonly QueueSample[] = []) => ({
    installation,
    sample: async (queues: readonly string[]) => samples.filter(({ queue }) => queues.includes(queue)),
    waitsMs: [10_000, 10_000, 30_000],
  })
  return { deps, stored: () => stored }
}

const holding = (id: InstallationId, rulings: readonly [InstallationId, Ruling][] = []): StoredInstallation => ({
  id,
  createdAtMs: 1_000,
  rulings: new Map(rulings),
})

test('show prints the id in Redis, and for each non-empty queue the ids of its first messages', async () => {
  const { deps } = storeHolding(holding(A, [[B, 'discarded']]))
  const lines = await runCommand(
    { name: 'show', limit: 5 },
    deps([
      {
        queue: 'delivery.due',
        messages: 9,
        headers: [{ 'sh-installation': B }, { 'sh-installation': B }, { 'sh-installation': A }, {}],
      },
      { queue: 'fanout.events', messages: 0, headers: [] },
      { queue: 'delivery.wait.10000', messages: 1, headers: [{ 'sh-installation': A }] },
    ]),
  )
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { redis: A, createdAt: '1970-01-01T00:00:01.000Z', adopted: [], discarded: [B] },
    { queue: 'delivery.due', messages: 9, looked: 4, installations: { [A]: 1, [B]: 2, none: 1 } },
    { queue: 'delivery.wait.10000', messages: 1, looked: 1, installations: { [A]: 1 } },
  ])
})

test('show looks at every queue whose messages carry an id, shards included', async () => {
  const looked: string[] = []
  const { deps } = storeHolding(holding(A))
  const sample = async (queues: readonly string[]) => {
    looked.push(...queues)
    return []
  }
  await runCommand({ name: 'show', limit: 5 }, { ...deps(), sample, waitsMs: [1_000, 1_000] })
  const names = Object.values(Queue).filter((name) => name !== Queue.quarantine)
  const shards = ['delivery.due.63', 'delivery.packets.63', 'fanout.events.63', 'fanout.events.packets.63']
  const others = [
    'delivery.lane.0',
    'delivery.lane.15',
    'delivery.wait.1000',
    'delivery.wait.1000.63',
    ...backlogQueues,
  ]
  for (const name of [...names, ...shards, ...others]) expect(looked).toContain(name)
  expect(looked).toHaveLength(names.length + 4 * 63 + 16 + 64 + backlogQueues.length)
  expect(new Set(looked).size).toBe(looked.length)
  expect(looked).not.toContain(Queue.quarantine)
  expect(looked.indexOf(Queue.fanoutEvents)).toBeLessThan(looked.indexOf(Queue.deliveryDue))
})

test('adopt writes the id to a Redis without one', async () => {
  const { deps, stored } = storeHolding()
  expect(await runCommand({ name: 'adopt', id: A }, deps())).toEqual([JSON.stringify({ adopted: A, redis: A })])
  expect(stored()).toEqual({ id: A, createdAtMs: 5, rulings: new Map() })
})

test('a Redis with an id keeps it and records the adopted or discarded one; the last decision counts', async () => {
  const { deps, stored } = storeHolding(holding(A))
  expect(await runCommand({ name: 'discard', id: B }, deps())).toEqual([JSON.stringify({ discarded: B, redis: A })])
  expect(stored()).toEqual(holding(A, [[B, 'discarded']]))
  expect(await runCommand({ name: 'adopt', id: B }, deps())).toEqual([JSON.stringify({ adopted: B, redis: A })])
  expect(stored()).toEqual(holding(A, [[B, 'adopted']]))
})

test('adopting the id that Redis already holds changes nothing', async () => {
  const { deps, stored } = storeHolding(holding(A))
  await runCommand({ name: 'adopt', id: A }, deps())
  expect(stored()).toEqual(holding(A))
})

test('discard refuses the installation’s own id, and a Redis without an id', async () => {
  await expect(runCommand({ name: 'discard', id: A }, storeHolding(holding(A)).deps())).rejects.toThrow(
    'cannot be discarded',
  )
  await expect(runCommand({ name: 'discard', id: A }, storeHolding().deps())).rejects.toThrow(
    'Redis holds no installation',
  )
})
