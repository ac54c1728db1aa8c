import * as fc from 'fast-check'
import { newEventId } from './ids.ts'
import { newTraceparent, readTraceparent, traceIdOf, traceIdOfEvent } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const GIVEN = `00-${TRACE}-00f067aa0ba902b7-01`

test('the example of the specification is accepted', () => {
  expect(readTraceparent(GIVEN)).toBe(GIVEN)
  expect(traceIdOf(GIVEN)).toBe(TRACE)
})

test('a later version is read as version 00', () => {
  const known = GIVEN.slice(2)
  expect(readTraceparent(`cc${known}-what-the-future-will-be-like`)).toBe(GIVEN)
  expect(readTraceparent(`cc${known}`)).toBe(GIVEN)
})

test.each<[string, unknown]>([
  ['absent', undefined],
  ['empty', ''],
  ['a number', 7],
  ['two headers', [GIVEN, GIVEN]],
  ['too short', GIVEN.slice(0, -1)],
  ['too long for its version', `${GIVEN}-00`],
  ['no hexadecimal', GIVEN.replace('f', 'g')],
  ['upper case', GIVEN.toUpperCase()],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the version that is forbidden', `ff${GIVEN.slice(2)}`],
  ['followed by a line', `${GIVEN}\n`],
  ['a flood', `cc${GIVEN.slice(2)}-${'x'.repeat(10_000)}`],
])('%s is ignored', (_what, value) => {
  expect(readTraceparent(value)).toBeUndefined()
})

test('any value is either rejected or read to a context that can be read again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string()), (value) => {
      const read = readTraceparent(value)
      if (read !== undefined) expect(readTraceparent(read)).toBe(read)
    }),
  )
})

test('a new context is well formed, unique, and belongs to the requested trace', () => {
  const [one, other] = [newTraceparent(), newTraceparent()]
  expect(readTraceparent(one)).toBe(one)
  expect(traceIdOf(one)).not.toBe(traceIdOf(other))
  const eventId = newEventId()
  const ofEvent = newTraceparent(traceIdOfEvent(eventId))
  expect(readTraceparent(ofEvent)).toBe(ofEvent)
  expect(traceIdOf(ofEvent)).toBe(eventId.replaceAll('-', ''))
})
