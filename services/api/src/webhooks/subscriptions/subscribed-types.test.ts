import { EVENT_TYPES } from '@switchhook/contracts'
import { shownTypes, storedTypes } from './subscribed-types.ts'

test('all types are stored one by one too, for versions that do not know the sign', () => {
  expect(storedTypes(['*', 'call.status'])).toEqual([...EVENT_TYPES, '*'])
  expect(shownTypes(storedTypes(['*']))).toEqual(['*'])
})

test('other types are stored and shown as they were sent, without repetitions', () => {
  expect(storedTypes(['agent.status', 'call.status', 'agent.status'])).toEqual(['agent.status', 'call.status'])
  expect(shownTypes(['agent.status', 'call.status'])).toEqual(['agent.status', 'call.status'])
})
