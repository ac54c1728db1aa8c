import { checkOutage, type ReceivedEvent } from './outage.ts'

const DIED = 10_000
const RETURNED = 70_000

const told = (sequence: number, state: number, occurredMs: number, atMs: number, callId = 'one'): ReceivedEvent => ({
  deliveryId: `${callId} ${sequence}`,
  occurredAt: new Date(occurredMs).toISOString(),
  atMs,
  data: { callId, sequence, state },
})
const whole = [told(1, 2, 9_000, 9_010), told(2, 3, 20_000, 72_000), told(3, 7, 30_000, 75_000)]
const check = (calls: string[], events: ReceivedEvent[]) => checkOutage(calls, events, DIED, RETURNED)

test('the first and the last delivery after the return are timed', () => {
  expect(check(['one'], whole)).toEqual({ calls: 1, accepted: 2, firstMs: 2_000, allMs: 5_000, lost: 0, repeated: 0 })
})

test('events after the return do not delay the end', () => {
  const later = [told(1, 2, 71_000, 90_000, 'two'), told(2, 7, 72_000, 91_000, 'two')]
  expect(check(['one', 'two'], [...whole, ...later])).toMatchObject({ calls: 2, accepted: 2, allMs: 5_000, lost: 0 })
})

test.each<[string, string[], ReceivedEvent[]]>([
  ['a call of which nothing was heard', ['one', 'two'], whole],
  ['a gap', ['one'], whole.filter(({ data }) => data.sequence !== 2)],
  ['a call without an end', ['one'], whole.slice(0, 2)],
])('%s is lost', (_name, calls, events) => {
  expect(check(calls, events).lost).toBe(1)
})

test('a repeated delivery is counted, at the time of the first', () => {
  const again = told(3, 7, 30_000, 80_000)
  expect(check(['one'], [...whole, again])).toMatchObject({ repeated: 1, allMs: 5_000, lost: 0 })
})
