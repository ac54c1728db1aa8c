import { Unparsable } from '../events/event.ts'
import { newEventId, newSubscriptionId } from '../ids.ts'
import { parseReceiverCheck, type ReceiverCheck } from './receiver-check.ts'

const check: ReceiverCheck = {
  checkId: newEventId(),
  subscriptionId: newSubscriptionId(),
  tenant: null,
  eventType: 'call.status',
  expiresAt: '2026-01-01T00:00:00.000Z',
}
const parse = (change: object): ReceiverCheck =>
  parseReceiverCheck(Buffer.from(JSON.stringify({ ...check, ...change })))

test('a request is parsed unchanged, including one of a later version with additional fields', () => {
  expect(parse({})).toEqual(check)
  expect(parse({ later: 1 })).toMatchObject(check)
})

test.each<[object, RegExp]>([
  [{ subscriptionId: 'x' }, /\/subscriptionId must be a GUID/],
  [{ eventType: 'call.unknown' }, /\/eventType must be one of/],
  [{ expiresAt: undefined }, /\/expiresAt is required/],
])('%j cannot be understood', (change, said) => {
  expect(() => parse(change)).toThrow(Unparsable)
  expect(() => parse(change)).toThrow(said)
})

test('content that is not JSON is rejected', () => {
  const broken = (): ReceiverCheck => parseReceiverCheck(Buffer.from('{'))
  expect(broken).toThrow(Unparsable)
  expect(broken).toThrow('not JSON')
})
