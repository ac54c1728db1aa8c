import { changedFields } from './changed-fields.ts'

const stored = {
  id: 'not in the form',
  description: 'CRM',
  externalId: null,
  headers: { authorization: '***' },
  eventTypes: ['call.status'],
  filter: { 'call.status': { duration: [{ numeric: ['>', 0, '<=', 60] }] } },
}
const { id: _, ...entered } = stored

test('an edit that changes nothing sends nothing', () => {
  expect(changedFields(structuredClone(entered), stored)).toEqual({})
  const reordered = { ...stored, description: '', eventTypes: ['call.status', 'agent.status'] }
  expect(changedFields({ description: null, eventTypes: ['agent.status', 'call.status'] }, reordered)).toEqual({})
})

test.each<[string, object]>([
  ['a text', { description: 'CRM in Köln' }],
  ['a text that is removed', { description: null }],
  ['a value where none was', { externalId: 'crm' }],
  ['a header', { headers: { authorization: 'Bearer 3fQ9' } }],
  ['a list', { eventTypes: ['agent.status', 'call.status'] }],
  ['the order of a comparison', { filter: { 'call.status': { duration: [{ numeric: ['>', 60, '<=', 0] }] } } }],
])('it sends what differs, and only that: %s', (_what, change) => {
  expect(changedFields({ ...entered, ...change }, stored)).toEqual(change)
})
