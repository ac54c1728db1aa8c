import { array, assert, asyncProperty, integer, uniqueArray } from 'fast-check'
import { byPlace, type Chunk, type MergeEntry, mergeLists } from './merge-lists.ts'

const list = uniqueArray(integer({ min: 1, max: 400 }), { maxLength: 60 })

/** Lists in memory, and how often each was read. */
function aWorld(times: readonly (readonly number[])[]) {
  const lists = times.map((own, at) => {
    const name = `list-${at}`
    return own.toSorted((a, b) => b - a).map((since) => ({ list: name, since: String(since) }))
  })
  let reads = 0
  const read = async (name: string, before: string | undefined, count: number): Promise<Chunk<MergeEntry>> => {
    reads += 1
    const all = lists[Number(name.slice('list-'.length))] ?? []
    const rest = all.filter(({ since }) => before === undefined || Number(since) < Number(before))
    const entries = rest.slice(0, count)
    return { entries, isEnd: entries.length < count }
  }
  return {
    lists,
    merged: mergeLists(
      lists.map((_, at) => `list-${at}`),
      read,
    ),
    reads: () => reads,
  }
}

async function all(batches: AsyncIterable<readonly MergeEntry[]>): Promise<MergeEntry[]> {
  const found: MergeEntry[] = []
  for await (const batch of batches) found.push(...batch)
  return found
}

async function holdsEveryEntryOnce(times: readonly (readonly number[])[]): Promise<void> {
  const { lists, merged } = aWorld(times)
  expect(await all(merged)).toEqual(lists.flat().toSorted(byPlace))
}

describe('merged lists hold every entry once, the newest first, entries of the same time by list', () => {
  test('whatever their lengths', async () => {
    await assert(asyncProperty(array(list, { maxLength: 20 }), holdsEveryEntryOnce), { numRuns: 50 })
  })

  test('if the first read takes only a part of each', async () => {
    const many = array(list, { minLength: 130, maxLength: 140 })
    await assert(asyncProperty(many, holdsEveryEntryOnce), { numRuns: 15 })
  })
})

test('the first entries of a thousand lists are found with one read per list and few more', async () => {
  const busy = Array.from({ length: 300 }, (_, n) => 1_000 + n)
  const { merged, reads } = aWorld([busy, ...Array.from({ length: 999 }, (_, n) => [n, n + 1, n + 2, n + 3, n + 4])])
  let found = 0
  for await (const batch of merged) {
    found += batch.length
    if (found >= 250) break
  }
  expect(reads()).toBeLessThan(1_030)
})
