import { type CallEvent, checkCalls } from './load.ts'

const arrival = (callId: string, sequence: number, state: number): CallEvent => ({
  deliveryId: `${callId}/${sequence}`,
  data: { callId, sequence, state },
})

test('a call whose events all arrived, in any order, is finished', () => {
  expect(checkCalls(['a'], [arrival('a', 2, 7), arrival('a', 1, 1)])).toEqual({ unfinished: 0, webhooks: 2, twice: 0 })
})

test('a repeated webhook is counted and is not a loss', () => {
  const arrivals = [arrival('a', 1, 1), arrival('a', 1, 1), arrival('a', 2, 7)]
  expect(checkCalls(['a'], arrivals)).toEqual({ unfinished: 0, webhooks: 2, twice: 1 })
})

test.each([
  ['no webhook arrived', []],
  ['the end is missing', [arrival('a', 1, 1)]],
  ['the middle is missing', [arrival('a', 1, 1), arrival('a', 3, 7)]],
  ['the beginning is missing', [arrival('a', 2, 7)]],
  ['another call ended', [arrival('b', 1, 1), arrival('b', 2, 7)]],
])('%s: a loss', (_what, arrivals) => {
  expect(checkCalls(['a'], arrivals)).toMatchObject({ unfinished: 1 })
})
