import type { Explanation } from '../api/model.ts'
import { eventPhrase, eventState, progressOf } from './event.ts'

const alice = 'sip:alice@acme.example'

test.each([
  [{ agentUri: alice, state: 3, remoteParty: { uri: 'sip:x', number: '+15550147' } }, 'alice connected, +15550147'],
  [
    { agentUri: alice, state: 7, remoteParty: { uri: 'sip:bob@acme.example', number: null } },
    'alice ended, sip:bob@acme.example',
  ],
  [{ agentUri: alice, statusCode: 50 }, 'alice status 50'],
  [{ subscriptionId: 'x' }, ''],
])('an event says who, what and with whom: %j', (data, phrase) => {
  expect(eventPhrase(data)).toBe(phrase)
})

test('an event without a state says nothing about one', () => expect(eventState({ agentUri: alice })).toBe(''))

test.each<[Explanation['verdict'][], string, string]>([
  [[], 'quiet', 'for no endpoint'],
  [['not-subscribed', 'created-later', 'disabled'], 'quiet', 'for no endpoint'],
  [['delivered', 'not-subscribed'], 'good', 'delivered'],
  [['delivered', 'delivered'], 'good', 'all 2 delivered'],
  [['cooling-down'], 'warn', 'waiting'],
  [['parked'], 'bad', 'parked'],
  [['parked', 'waiting', 'delivered', 'pending'], 'bad', '1 parked, 2 waiting, 1 delivered'],
])('endpoints with the verdicts %j', (verdicts, tone, text) => {
  expect(progressOf(verdicts.map((verdict) => ({ verdict })))).toEqual({ tone, text })
})
