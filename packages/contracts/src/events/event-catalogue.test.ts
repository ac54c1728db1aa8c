import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { EVENT_TYPES } from './event.ts'
import { describeEventTypes, EVENT_CATALOGUE, exampleDataOf } from './event-catalogue.ts'

const faultsOf = (schema: object, value: unknown): unknown => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const isValid = ajv.compile(schema)
  isValid(value)
  return isValid.errors ?? []
}

test('every event type has a description and an example that matches its schema; the schema requires the data', () => {
  const described = describeEventTypes()
  expect(described.map(({ type }) => type)).toEqual(EVENT_TYPES)
  for (const { type, schema, example } of described) {
    expect([type, faultsOf(schema, example)]).toEqual([type, []])
    expect(faultsOf(schema, { ...example, data: {} })).not.toEqual([])
    expect(faultsOf(schema, { ...example, eventType: 'another' })).not.toEqual([])
  }
})

test.each(EVENT_TYPES)(
  'a generated example of %s matches its schema and has the current time and new ids',
  (eventType) => {
    const at = new Date('2031-02-03T04:05:06.007Z')
    const one = exampleDataOf(eventType, at)
    const { schema } = EVENT_CATALOGUE[eventType]
    expect(faultsOf(schema, one)).toEqual([])
    expect(one['occurredAt']).toBe(at.toISOString())
    const text = JSON.stringify(one)
    const known = JSON.stringify(schema.examples).match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []
    for (const id of known) expect(text).not.toContain(id)
    expect(text).not.toContain('2026-11-20')
  },
)
