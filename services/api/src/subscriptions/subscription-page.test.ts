import { AppError, newSubscriptionId, type Subscription } from '@switchhook/contracts'
import { array, assert, constantFrom, integer, property } from 'fast-check'
import { MAX_PAGE, pageOf } from './subscription-page.ts'

const TIMES = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-01-02T00:00:00.000Z']

const created = (createdAt: string): Subscription => ({
  id: newSubscriptionId(),
  tenant: 'acme',
  url: 'https://client.example/hook',
  eventTypes: ['call.status'],
  description: null,
  enabled: true,
  createdAt,
})

const place = ({ createdAt, id }: Subscription): string => `${createdAt} ${id}`

const sorted = (all: readonly Subscription[]): Subscription[] => all.toSorted((a, b) => (place(a) < place(b) ? -1 : 1))

function* pages(list: () => readonly Subscription[], limit: number): Generator<readonly Subscription[]> {
  let cursor: string | null = null
  do {
    const page: ReturnType<typeof pageOf> = pageOf(list(), { limit, ...(cursor !== null && { cursor }) })
    yield page.items
    cursor = page.nextCursor
  } while (cursor !== null)
}

test('page by page, each is told once and in order, however many were made in one millisecond', () => {
  assert(
    property(array(constantFrom(...TIMES), { maxLength: 30 }), integer({ min: 1, max: 10 }), (times, limit) => {
      const all = sorted(times.map(created))
      const told = [...pages(() => all, limit)]
      expect(told.flat()).toEqual(all)
      expect(told).toHaveLength(Math.max(1, Math.ceil(all.length / limit)))
    }),
  )
})

test('what is created or deleted while somebody reads shifts no page', () => {
  let all = sorted(Array.from({ length: 6 }, () => created(TIMES[0] ?? '')))
  const [first, second, ...rest] = all
  const reading = pages(() => all, 2)
  expect(reading.next().value).toEqual([first, second])
  const later = created(TIMES[2] ?? '')
  all = [...rest, later]
  expect([...reading].flat()).toEqual([...rest, later])
})

test.each(['x', Buffer.from('2026').toString('base64url'), Buffer.from('{} {}').toString('base64url')])(
  'the cursor %s is none of this list',
  (cursor) => {
    expect(() => pageOf([], { limit: MAX_PAGE, cursor })).toThrow(AppError)
  },
)
