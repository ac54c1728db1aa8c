import { isDiallable, isSameAddress, numberOf, presentationOf } from './address.ts'

test.each<[string, string | null]>([
  ['+15550100', '+15550100'],
  ['tel:+1-555-0100', '+15550100'],
  ['TEL:+1(555)0100', '+15550100'],
  ['8101', '8101'],
  ['*43', '*43'],
  ['(555) 0100', '5550100'],
  [' +1 555 0100', '+15550100'],
  ['030/1234-5', '03012345'],
  ['+49 (0) 30 123456', '+4930123456'],
  ['+49(0)30/123456', '+4930123456'],
  ['+44 (0)20 7946 0000', '+442079460000'],
  ['+49\u00a030\u202f12\u201134', '+49301234'],
  ['+49-(0)30-1234', '+49301234'],
  ['+49 \u2013 ( 0 ) 30 1234', '+49301234'],
  ['(+49) (0)30 1234', '+49301234'],
  ['+(49)(0)30 1234', '+49301234'],
  ['0049 (0) 30 1234', '0049301234'],
  ['0 (030) 1234', '00301234'],
  // Without an international prefix, whether the zero is dialled depends on the country.
  ['49 (0) 30 1234', null],
  ['+49-(030) 1234', null],
  ['0049 (030) 1234', null],
  ['\u202a+1 555 0100\u202c', '+15550100'],
  // Germany does not dial this zero, Italy does.
  ['+49 (030) 123456', null],
  ['+39 (0)6 1234', null],
  ['0039 (0)6 1234', null],
  ['+378 (0)549 1234', null],
  ['+39 06 1234', '+39061234'],
  ['+1555;ext=2', null],
  ['8102&PJSIP/carol', null],
  ['anonymous', null],
  ['', null],
  ['+', null],
  ['1'.repeat(33), null],
])('the number in %j is %j', (address, number) => {
  expect(numberOf(address)).toBe(number)
})

test.each([
  ['SIP:alice@acme.example', 'sip:alice@acme.example'],
  ['sip:alice@ACME.Example', 'sip:alice@acme.example'],
  ['sip:%61lice@acme.example', 'sip:alice@acme.example'],
  ['sip:alice@acme.example;transport=TCP', 'sip:alice@acme.example;Transport=tcp'],
  ['sip:alice@acme.example;lr;transport=tcp', 'sip:alice@acme.example;transport=tcp;lr'],
  ['sip:a%20b@acme.example', 'sip:a%20b@acme.example'],
  ['sip:a%c3%a4@acme.example', 'sip:a%C3%A4@acme.example'],
  ['tel:7001;phone-context=acme.example', 'TEL:70-01;Phone-Context=ACME.example'],
  ['tel:+1-555-7001', '+15557001'],
  ['tel:+15557001', 'TEL:+1.555.7001'],
])('%s and %s are the same address', (one, other) => {
  expect(isSameAddress(one, other)).toBe(true)
})

test.each([
  ['sip:Alice@acme.example', 'sip:alice@acme.example'],
  ['sips:alice@acme.example', 'sip:alice@acme.example'],
  ['sip:alice@acme.example:5060', 'sip:alice@acme.example'],
  ['sip:alice%3Bx@acme.example', 'sip:alice;x@acme.example'],
  ['tel:7001;phone-context=acme.example', 'tel:7001;phone-context=globex.example'],
  ['+15557001', '15557001'],
])('%s and %s are two addresses', (one, other) => {
  expect(isSameAddress(one, other)).toBe(false)
})

test.each<[string, boolean]>([
  ['+49 (0) 30 1234', true],
  ['sip:bob@acme.example', true],
  ['sips:bob@[2001:db8::1]:5061', true],
  ['bob', false],
  ['mailto:bob@acme.example', false],
  ['Local/8102@from-agent', false],
  ['+49 (030) 1234', false],
])('whether %s can be dialled: %s', (address, is) => {
  expect(isDiallable(address)).toBe(is)
})

test.each<[string, string | null]>([
  ['+1 (555) 0199', '+15550199'],
  ['Anonymous', 'anonymous'],
  ['letters', null],
])('the presentation of %s is %s', (cli, shown) => {
  expect(presentationOf(cli)).toBe(shown)
})
