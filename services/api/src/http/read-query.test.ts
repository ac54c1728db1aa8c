import { AppError } from '@switchhook/contracts'
import { createReadQuery } from './read-query.ts'

const read = createReadQuery({
  limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  state: { type: 'string', enum: ['parked'], default: 'parked' },
  verbose: { type: 'boolean' },
  from: { type: 'string', format: 'date-time' },
})

test.each<[string, object]>([
  ['', { limit: 20, state: 'parked' }],
  ['?', { limit: 20, state: 'parked' }],
  ['?limit=1&verbose=true', { limit: 1, state: 'parked', verbose: true }],
  ['?limit=100&other=1&other=2', { limit: 100, state: 'parked' }],
  ['?state=%70arked', { limit: 20, state: 'parked' }],
  ['?from=2026-11-20T17:06:01Z', { limit: 20, state: 'parked', from: '2026-11-20T17:06:01Z' }],
  ['?from=2026-11-20T17:06:01%2B0530', { limit: 20, state: 'parked', from: '2026-11-20T17:06:01+05:30' }],
  ['?from=2026-11-20%2017:06:01.1%20%2B00:00', { limit: 20, state: 'parked', from: '2026-11-20T17:06:01.1+00:00' }],
  ['?from=2026-11-20T17:06:01.173-0100', { limit: 20, state: 'parked', from: '2026-11-20T17:06:01.173-01:00' }],
])('%j is read', (search, expected) => {
  expect(read(search)).toEqual(expected)
})

test.each<[string, string[]]>([
  ['?limit=0', ['/limit']],
  ['?limit=101', ['/limit']],
  ['?limit=', ['/limit']],
  ['?limit=ten', ['/limit']],
  ['?limit=1.5', ['/limit']],
  ['?limit=0x10', ['/limit']],
  ['?limit=99999999999999999999', ['/limit']],
  ['?limit=1&limit=2', ['/limit']],
  ['?state=waiting', ['/state']],
  ['?from=2026-11-20', ['/from']],
  ['?from=2026-11-20T17:06:01%2B05', ['/from']],
  ['?limit=1e400', ['/limit']],
  ['?verbose=1&limit=0&state=%20', ['/limit', '/state', '/verbose']],
])('%j is rejected with all faults', (search, pointers) => {
  const failure = failureOf(() => read(search))
  expect(failure.code).toBe('invalid-request')
  expect(failure.extra.errors?.map(({ pointer }) => pointer).toSorted()).toEqual(pointers)
})

test.each(['?state=%ff', '?state=%ED%A0%BD', '?state=%', '?state=%zz', '?%C0%80=1'])(
  '%j is rejected, because it would be read otherwise than it is written',
  (search) => {
    expect(failureOf(() => read(search)).extra.detail).toBe('The query is not valid percent-encoded UTF-8.')
  },
)

function failureOf(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
