import fc from 'fast-check'
import { dialString } from './dial-string.ts'

const trunk = { endpoint: 'pstn', sipDomains: ['partner.example'] }

test.each<[string, string | null]>([
  ['+15550100', 'PJSIP/+15550100@pstn'],
  ['tel:+1 (555) 01-00', 'PJSIP/+15550100@pstn'],
  ['+49 (0) 30 1234', 'PJSIP/+49301234@pstn'],
  ['SIP:sales@Partner.example', 'PJSIP/pstn/sip:sales@partner.example'],
  ['*21#', 'PJSIP/*21#@pstn'],
  ['sip:sales@partner.example', 'PJSIP/pstn/sip:sales@partner.example'],
  ['sip:sales@elsewhere.example', null],
  ['sip:sales@partner.example/../Local', null],
  ['Local/8101@from-agent', null],
  ['+15550100&SIP/1', null],
  ['+15550100@other', null],
  ['8101/n', null],
  ['${EVAL(1)}', null],
  ['+15550100\r\nX', null],
  ['', null],
  ['+', null],
])('%j becomes %j', (address, expected) => expect(dialString(address, trunk)).toBe(expected))

test('no address escapes from the trunk', () => {
  const hostile = fc.stringMatching(/^[-+0-9a-zA-Z*#/@&,;:()|^$!{}%\r\n.~ ]{0,40}$/)
  const prefixed = fc
    .tuple(fc.constantFrom('', '+1555', 'tel:', 'sip:a@partner.example'), hostile)
    .map((it) => it.join(''))
  fc.assert(
    fc.property(fc.oneof(fc.string(), hostile, prefixed), (address) => {
      const dialled = dialString(address, trunk)
      return dialled === null || /^PJSIP\/(\+?[0-9*#]+@pstn|pstn\/sip:[\w.+-]+@partner\.example)$/.test(dialled)
    }),
    { numRuns: 2_000 },
  )
})
