import { fillPage } from './fill-page.ts'
import type { RouteRequest } from './route.ts'

const request = { query: { limit: 2 }, isClosed: () => false } as unknown as RouteRequest

/** Reads pages by their cursor. */
const reading = (pages: Readonly<Record<string, object>>) => {
  const read: string[] = []
  const answer = async ({ query }: RouteRequest) => {
    const { limit, cursor = 'first' } = query as { readonly limit: number; readonly cursor?: string }
    expect(limit).toBe(2)
    read.push(cursor)
    return { status: 200, body: pages[cursor] }
  }
  return { read, answer }
}

test.each([
  [
    'an empty page in front of others',
    { first: { items: [], nextCursor: 'b' }, b: { items: [1], nextCursor: 'c' } },
    ['first', 'b'],
  ],
  [
    'several',
    { first: { items: [], nextCursor: 'b' }, b: { items: [], nextCursor: 'c' }, c: { items: [], nextCursor: null } },
    ['first', 'b', 'c'],
  ],
  [
    'a list of another name',
    { first: { data: { a: 1 }, subscriptions: [], nextCursor: 'b' }, b: { data: { a: 1 }, subscriptions: [1] } },
    ['first', 'b'],
  ],
  ['a page with items', { first: { items: [1], nextCursor: 'b' } }, ['first']],
  ['an array', { first: [] }, ['first']],
])('%s: the answer is the first page with items, or the last one', async (_case, pages, expected) => {
  const { read, answer } = reading(pages as Record<string, object>)
  expect((await fillPage(request, answer)).body).toEqual((pages as Record<string, object>)[expected.at(-1) ?? ''])
  expect(read).toEqual(expected)
})

test('a search ends when the client has gone, or after ten seconds', async () => {
  const { read, answer } = reading({ first: { items: [], nextCursor: 'first' } })
  await fillPage({ ...request, isClosed: () => true }, answer)
  expect(read).toEqual(['first'])
  jest.useFakeTimers({ now: 0, doNotFake: ['nextTick'] })
  const slow = async (asked: RouteRequest) => {
    jest.advanceTimersByTime(4_000)
    return answer(asked)
  }
  await fillPage(request, slow)
  expect(read).toHaveLength(4)
})
