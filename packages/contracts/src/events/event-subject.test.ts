import { MAX_SUBJECT_LENGTH, numberEnding, subjectOf } from './event-subject.ts'

const nothing = { callId: null, agentUri: null, correlationId: null, number: null }

test.each([
  ['nothing to find it by', { subscriptionId: 'x' }, nothing],
  [
    'all of it',
    { callId: '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11', agentUri: 'sip:a@b', correlationId: 'crm-1', cli: '+1' },
    { callId: '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11', agentUri: 'sip:a@b', correlationId: 'crm-1', number: null },
  ],
  ['a phone number', { remoteParty: { number: '+1 555-9000' } }, { ...nothing, number: '+15559000' }],
  ['a party without a number', { remoteParty: { uri: 'sip:bob@b', number: null } }, nothing],
  ['a name as number', { remoteParty: { number: 'anonymous' } }, nothing],
  ['a party that is no object', { remoteParty: 'bob' }, nothing],
  [
    'a GUID in upper case',
    { callId: '0B7E3F0C-5D0E-4D7F-9C0E-0D2F4A1B6C11' },
    { ...nothing, callId: '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11' },
  ],
  ["another platform's id", { callId: 'PBX-7' }, { ...nothing, callId: 'PBX-7' }],
  ['no texts', { callId: 7, agentUri: null, correlationId: {} }, nothing],
  ['empty ones', { callId: '', agentUri: '', correlationId: '' }, nothing],
  ['one that is too long', { correlationId: 'x'.repeat(MAX_SUBJECT_LENGTH + 1) }, nothing],
])('of data with %s', (_name, data, subject) => {
  expect(subjectOf(data)).toEqual(subject)
})

test.each([
  ['+1 (555) 900-0', '15559000'],
  ['0015559000', '15559000'],
  ['0555 9000', '5559000'],
  ['+', ''],
])('%s ends with the digits %s', (number, ending) => {
  expect(numberEnding(number)).toBe(ending)
})
