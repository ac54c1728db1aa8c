import { compileSchema, type Fault, STATUS_NAMES } from '@switchhook/contracts'
import { type PresenceBody, presenceSchema } from './agent-schemas.ts'
import { settingOf, validatePresence } from './validate-presence.ts'

const NOW = Date.UTC(2026, 0, 1, 12)
const check = compileSchema<PresenceBody>(presenceSchema)
const validate = (body: unknown, faults: readonly Fault[]) =>
  validatePresence(body, faults, { statusNames: STATUS_NAMES, now: () => NOW })

function problemOf(body: unknown) {
  const result = check(body)
  return validate(body, result.ok ? [] : result.faults)
}

test.each<[unknown, number]>([
  [66, 66],
  ['66', 66],
  [0, 0],
  ['0', 0],
])('the status code %j is %i', (statusCode, code) => {
  expect(problemOf({ statusCode })).toBeUndefined()
  expect(settingOf({ statusCode: statusCode as string }).statusCode).toBe(code)
})

test.each([['3'], [3], [-1], [2.5], ['2.0'], [' 2'], ['0x2'], ['02'], [''], ['Available'], [1e21]])(
  'the unknown status code %j is rejected, and the error lists the known codes',
  (statusCode) => {
    const problem = problemOf({ statusCode })
    expect(problem?.code).toBe('unknown-status-code')
    expect(problem?.extra.knownStatusCodes).toContainEqual({ code: 2, name: 'Available' })
    expect(problem?.extra.errors?.[0]?.pointer).toBe('/statusCode')
  },
)

test.each([[null], [true], [{}], [[2]]])('%j is rejected as a status code', (statusCode) => {
  expect(problemOf({ statusCode })?.extra.errors).toEqual([
    { pointer: '/statusCode', detail: 'must be a string or an integer' },
  ])
})

test.each([
  ['2026-01-01T12:00:01Z', '2026-01-01T12:00:01.000Z'],
  ['2026-01-01T14:00:01+01:00', '2026-01-01T13:00:01.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('until %s is stored as %s', (until, utc) => {
  expect(problemOf({ statusCode: 66, until })).toBeUndefined()
  expect(settingOf({ statusCode: 66, until }).until).toBe(utc)
})

const NO_TIME = 'must be an RFC 3339 time, such as 2026-11-20T17:06:01Z'
const PAST = 'must be a time in the future'
const TOO_LATE = 'must not be after 9999-12-31T23:59:59.999Z'

test.each([
  ['in the past', '2026-01-01T11:59:59Z', PAST],
  ['now', '2026-01-01T12:00:00Z', PAST],
  ['without a zone', '2026-01-01T13:00:00', NO_TIME],
  ['with hours alone as its offset', '2027-01-01T13:00:00+05', NO_TIME],
  ['not a time', 'tomorrow', NO_TIME],
  ['an empty string', '', NO_TIME],
  ['a day that does not exist', '2027-02-30T12:00:00Z', NO_TIME],
  ['in a year of five digits, in UTC', '9999-12-31T23:59:59-00:01', TOO_LATE],
])('an until that is %s is rejected', (_name, until, detail) => {
  const problem = problemOf({ statusCode: 66, until })
  expect(problem).toMatchObject({ code: 'invalid-request', extra: { errors: [{ pointer: '/until', detail }] } })
})

test('message and location have at most 255 characters and no control characters', () => {
  expect(problemOf({ statusCode: 2, message: 'x'.repeat(255), location: null })).toBeUndefined()
  const problem = problemOf({ statusCode: 2, message: 'x'.repeat(256), location: 'a\nb' })
  expect(problem?.extra.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(['/location', '/message'])
})

test('all faults are reported together', () => {
  const problem = problemOf({ statusCode: 3, until: '2020-01-01T00:00:00Z', message: 5 })
  expect(problem?.extra.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(['/message', '/statusCode', '/until'])
})

test('unknown fields are ignored', () => {
  expect(problemOf({ statusCode: 2, colour: 'green' })).toBeUndefined()
})

test('the default status codes are those of the specification', () => {
  expect(Object.keys(STATUS_NAMES).map(Number)).toEqual([
    0, 1, 2, 10, 14, 34, 50, 66, 82, 98, 114, 130, 144, 146, 160, 161, 162, 176, 177,
  ])
})
