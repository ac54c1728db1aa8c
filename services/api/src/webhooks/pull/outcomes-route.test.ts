import { reportOutcomes } from './outcomes-route.ts'

const ID = '5f0d1b7e-8d3c-4a52-9b61-0c7e2f4a9d10'
const OTHER = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'
const one = { deliveryId: ID, leaseToken: 'lease', status: 200 }
const TWICE = { pointer: '/items/1/deliveryId', detail: 'is in the list twice' }
const NOT_ONE = { pointer: '/items/0', detail: 'must have exactly one of status, error and release' }

test.each<[string, readonly object[], readonly object[]]>([
  ['different deliveries', [one, { ...one, deliveryId: OTHER }], []],
  ['a delivery twice', [one, one], [TWICE]],
  ['a delivery twice, in other letters', [one, { ...one, deliveryId: ID.toUpperCase() }], [TWICE]],
  ['no outcome', [{ ...one, status: undefined }], [NOT_ONE]],
  ['two outcomes', [{ ...one, error: 'timeout' }], [NOT_ONE]],
])('outcomes of %s: the faults', (_case, items, faults) => {
  const failure = reportOutcomes.validate?.({ items }, [], {} as never)
  expect(failure?.extra.errors ?? []).toEqual(faults)
})
