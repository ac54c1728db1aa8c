import { newSubscriptionId } from '@switchhook/contracts'
import type { ParkedRange } from '@switchhook/store'
import { shareCounts } from './recovery-routes.ts'

const id = newSubscriptionId()
const RANGE: ParkedRange = { after: '0', until: '9', reason: null }

const FOUND = { count: 3, oldest: null, newest: null }

interface PendingCount {
  readonly end: () => void
  readonly fail: (error: Error) => void
}

function counting() {
  const counts: PendingCount[] = []
  const count = shareCounts(
    () => new Promise((resolve, reject) => counts.push({ end: () => resolve(FOUND), fail: (error) => reject(error) })),
  )
  return { counts, count }
}

test('concurrent requests share the count of a range, and a later request counts again', async () => {
  const { counts, count } = counting()
  const both = [count(id, RANGE), count(id, { ...RANGE })]
  expect(counts).toHaveLength(1)
  counts[0]?.end()
  expect(await Promise.all(both)).toEqual([FOUND, FOUND])
  void count(id, RANGE)
  expect(counts).toHaveLength(2)
})

test('another subscription or range has its own count', () => {
  const { counts, count } = counting()
  void count(id, RANGE)
  void count(newSubscriptionId(), RANGE)
  void count(id, { ...RANGE, after: '1' })
  void count(id, { ...RANGE, until: '8' })
  void count(id, { ...RANGE, reason: 'rejected' })
  expect(counts).toHaveLength(5)
})

test('a failed count rejects every waiting request, and the next request counts again', async () => {
  const { counts, count } = counting()
  const both = [count(id, RANGE), count(id, RANGE)]
  counts[0]?.fail(new Error('away'))
  for (const each of await Promise.allSettled(both)) expect(each).toMatchObject({ status: 'rejected' })
  void count(id, RANGE)
  expect(counts).toHaveLength(2)
})
