import { recognise } from './recognise.ts'

const ID = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'

test.each([
  ['', { kind: 'nothing' }],
  ['   ', { kind: 'nothing' }],
  [ID, { kind: 'id', id: ID }],
  [ID.toUpperCase(), { kind: 'id', id: ID }],
  [`X-SVC-Delivery: ${ID}`, { kind: 'id', id: ID }],
  ['sip:alice@acme.example', { kind: 'agent', agentUri: 'sip:alice@acme.example' }],
  ['alice@acme.example', { kind: 'agent', agentUri: 'sip:alice@acme.example' }],
  ['tel:+15557001', { kind: 'agent', agentUri: 'tel:+15557001' }],
  ['+1 (555) 900-0', { kind: 'number', number: '+15559000' }],
  ['0555/9000', { kind: 'number', number: '05559000' }],
  ['123', { kind: 'correlation', correlationId: '123' }],
  ['crm-4711', { kind: 'correlation', correlationId: 'crm-4711' }],
])('"%s" is recognised', (text, sought) => {
  expect(recognise(text)).toEqual(sought)
})
