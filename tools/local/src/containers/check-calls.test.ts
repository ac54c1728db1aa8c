import type { Arrival } from '../demo/subscriber.ts'
import { judgeCalls } from './check-calls.ts'

const told = (callId: string, sequence: number, state: number): Pick<Arrival, 'deliveryId' | 'envelope'> => ({
  deliveryId: `${callId}/${sequence}`,
  envelope: { data: { callId, sequence, state } } as Arrival['envelope'],
})

test('a call whose events all arrived, in any order, is finished', () => {
  expect(judgeCalls(['a'], [told('a', 2, 7), told('a', 1, 1)])).toEqual({ unfinished: 0, webhooks: 2, twice: 0 })
})

test('a repeated webhook is counted and is not a loss', () => {
  const arrivals = [told('a', 1, 1), told('a', 1, 1), told('a', 2, 7)]
  expect(judgeCalls(['a'], arrivals)).toEqual({ unfinished: 0, webhooks: 2, twice: 1 })
})

test.each([
  ['no webhook arrived', []],
  ['the end is missing', [told('a', 1, 1)]],
  ['the middle is missing', [told('a', 1, 1), told('a', 3, 7)]],
  ['the beginning is missing', [told('a', 2, 7)]],
  ['another call ended', [told('b', 1, 1), told('b', 2, 7)]],
])('%s: a loss', (_what, arrivals) => {
  expect(judgeCalls(['a'], arrivals)).toMatchObject({ unfinished: 1 })
})
