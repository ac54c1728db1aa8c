import { recognise } from './recognise.ts'

const ID = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'

test.each([
  ['', null],
  ['   ', null],
  [ID, { kind: 'id', value: ID }],
  [ID.toUpperCase(), { kind: 'id', value: ID }],
  [`X-SVC-Delivery: ${ID}`, { kind: 'id', value: ID }],
  ['sip:alice@acme.example', { kind: 'agentUri', value: 'sip:alice@acme.example' }],
  ['alice@acme.example', { kind: 'agentUri', value: 'sip:alice@acme.example' }],
  ['tel:+15557001', { kind: 'agentUri', value: 'tel:+15557001' }],
  ['+1 (555) 900-0', { kind: 'number', value: '+15559000' }],
  ['0555/9000', { kind: 'number', value: '05559000' }],
  ['123', { kind: 'correlationId', value: '123' }],
  ['crm-4711', { kind: 'correlationId', value: 'crm-4711' }],
])('"%s" is recognised', (text, sought) => {
  expect(recognise(text)).toEqual(sought)
})
