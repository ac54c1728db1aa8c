import { Unavailable } from '@switchhook/contracts'
import type { KeptCounts, KeptKind } from '@switchhook/store'
import { type RecordingLog, recordingLog } from '@switchhook/testkit'
import { createTenantLimits } from './tenant-limits.ts'

const NOW = Date.UTC(2026, 10, 20, 17, 6, 1)
const HOUR_MS = 3_600_000

/** Workers with these limits over counts that never end. */
function aWorld() {
  const kept = new Map<string, number>()
  const written: [string, number, boolean][] = []
  let isAway = false
  const counts: KeptCounts = {
    async add(tenant, kind, cells, wereRefused) {
      if (isAway) throw new Unavailable('redis', 'away')
      const name = `${tenant} ${kind}`
      const more = [...cells.values()].reduce((sum, count) => sum + count, 0)
      kept.set(name, (kept.get(name) ?? 0) + more)
      written.push([name, more, wereRefused])
      return kept.get(name) ?? 0
    },
  }
  return {
    kept,
    written,
    aWorker: () => {
      const log: RecordingLog = recordingLog()
      const limits = { settled: 3, ledgers: 3, waiting: 2 }
      const { keep, flush } = createTenantLimits({ counts, limits, redisNow: () => NOW, log })
      const take = (count: number, kind: KeptKind = 'settled', tenant = 'acme', units = 1) =>
        Array.from({ length: count }, () => keep(tenant, kind, HOUR_MS, units)).filter(Boolean).length
      return { take, flush, log }
    },
    setAway: (value: boolean) => void (isAway = value),
  }
}

test('a worker keeps as many of each kind and tenant as the limit allows, also between two flushes', async () => {
  const { aWorker, kept } = aWorld()
  const { take, flush } = aWorker()
  expect([take(5), take(5, 'waiting'), take(5, 'settled', 'globex')]).toEqual([3, 2, 3])
  await flush()
  expect([take(5), take(5, 'waiting'), take(5, 'ledgers')]).toEqual([0, 0, 3])
  await flush()
  expect(Object.fromEntries(kept)).toEqual({
    'acme settled': 3,
    'acme waiting': 2,
    'acme ledgers': 3,
    'globex settled': 3,
  })
})

test('a large one counts for several, and the last one may exceed the limit', () => {
  const { take } = aWorld().aWorker()
  expect(take(5, 'settled', 'acme', 2)).toBe(2)
})

test('after a flush a worker knows what others keep, and what it has kept during the flush', async () => {
  const { aWorker } = aWorld()
  const [one, other] = [aWorker(), aWorker()]
  expect([one.take(2), other.take(1)]).toEqual([2, 1])
  const flushed = one.flush().then(() => other.flush())
  expect(one.take(1)).toBe(1)
  await flushed
  expect(one.take(1)).toBe(0)
  expect(other.take(1)).toBe(0)
})

test('a refusal is written, logged and followed by another look, which finds what has ended', async () => {
  const { aWorker, kept, written } = aWorld()
  const { take, flush, log } = aWorker()
  take(5)
  await flush()
  const fields = { tenant: 'acme', kind: 'settled', limit: 3, refused: 2 }
  expect(log.lines).toEqual([{ level: 'info', message: 'a tenant is at its limit', fields }])
  kept.clear()
  expect(take(1)).toBe(0)
  await flush()
  expect(take(5)).toBe(3)
  expect(written).toEqual([
    ['acme settled', 3, true],
    ['acme settled', 0, true],
  ])
})

test('a refusal that could not be written is written with the next flush, because readers depend on it', async () => {
  const { aWorker, setAway, written } = aWorld()
  const { take, flush, log } = aWorker()
  setAway(true)
  take(5)
  await flush()
  setAway(false)
  await flush()
  await flush()
  expect(written).toEqual([['acme settled', 0, true]])
  expect(log.lines.filter(({ level }) => level === 'info')).toHaveLength(1)
})

test('tenants whose counts are written slowly delay those of others little', async () => {
  let [writing, most, written] = [0, 0, 0]
  const add = async (): Promise<number> => {
    most = Math.max(most, ++writing)
    await new Promise(setImmediate)
    writing -= 1
    return ++written
  }
  const limits = { settled: 3, ledgers: 3, waiting: 2 }
  const { keep, flush } = createTenantLimits({ counts: { add }, limits, redisNow: () => NOW, log: recordingLog() })
  for (let n = 0; n < 250; n++) keep(`tenant-${n}`, 'settled', HOUR_MS)
  await flush()
  expect(written).toBe(250)
  expect(most).toBeGreaterThan(30)
})

test('without Redis the counts of that time are lost, and nothing else changes', async () => {
  const { aWorker, setAway, written } = aWorld()
  const { take, flush } = aWorker()
  setAway(true)
  expect(take(2)).toBe(2)
  await flush()
  setAway(false)
  await flush()
  expect(written).toEqual([])
  expect(take(5)).toBe(1)
})
