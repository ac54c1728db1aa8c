import { AppError, newSubscriptionId, type Subscription } from '@switchhook/contracts'
import { array, assert, constantFrom, integer, property } from 'fast-check'
import { inOrder, pageOf, placeBefore, placeOf } from './subscription-order.ts'

const TIMES = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-01-02T00:00:00.000Z'] as const

const created = (createdAt: string): Subscription => ({
  id: newSubscriptionId(),
  tenant: 'acme',
  url: 'https://client.example/hook',
  eventTypes: ['call.status'],
  description: null,
  enabled: true,
  createdAt,
})

function* pages(list: () => readonly Subscription[], limit: number): Generator<readonly Subscription[]> {
  let cursor: string | null = null
  do {
    const after: string = placeBefore({ limit, ...(cursor !== null && { cursor }) })
    const page: ReturnType<typeof pageOf> = pageOf(
      list().filter((subscription) => placeOf(subscription) > after),
      limit,
    )
    yield page.items
    cursor = page.nextCursor
  } while (cursor !== null)
}

test('pages list each subscription once, by age, even if many were created in the same millisecond', () => {
  assert(
    property(array(constantFrom(...TIMES), { maxLength: 30 }), integer({ min: 1, max: 10 }), (times, limit) => {
      const all = inOrder(times.map(created))
      expect(all.map(({ createdAt }) => createdAt)).toEqual([...times].toSorted())
      const listed = [...pages(() => all, limit)]
      expect(listed.flat()).toEqual(all)
      expect(listed).toHaveLength(Math.max(1, Math.ceil(all.length / limit)))
    }),
  )
})

test('a subscription that is created or deleted between pages moves no other one to another page', () => {
  let all = inOrder(Array.from({ length: 6 }, () => created(TIMES[0])))
  const [first, second, ...rest] = all
  const reading = pages(() => all, 2)
  expect(reading.next().value).toEqual([first, second])
  const later = created(TIMES[2])
  all = [...rest, later]
  expect([...reading].flat()).toEqual([...rest, later])
})

test.each(['x', Buffer.from('2026').toString('base64url'), Buffer.from('{} {}').toString('base64url')])(
  'the cursor %s is rejected',
  (cursor) => {
    expect(() => placeBefore({ limit: 1, cursor })).toThrow(AppError)
  },
)
