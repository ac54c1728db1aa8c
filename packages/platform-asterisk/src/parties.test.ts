import { pbxAgents } from './agents.ts'
import { createParties } from './parties.ts'

const parties = createParties({
  agents: pbxAgents([
    { agentUri: 'sip:alice@acme.example', tenant: 'acme', endpoint: 'alice', extension: '8101', answer: 'talk' },
  ]),
  trunk: { endpoint: 'pstn', sipDomains: [] },
  defaultCli: '+15550000',
  liveCalls: async () => [],
})

test.each([
  [
    { kind: 'agent', agentUri: 'sip:alice@acme.example', device: null },
    { number: '8101', name: '8101' },
  ],
  [
    { kind: 'outside', address: '+1 (555) 9000' },
    { number: '+15559000', name: '+15559000' },
  ],
  [
    { kind: 'outside', address: '+15559000', name: 'Erika' },
    { number: '+15559000', name: 'Erika' },
  ],
  [
    { kind: 'outside', address: '+15559000', name: 'a" <1>\r\n\\' },
    { number: '+15559000', name: 'a 1' },
  ],
  [
    { kind: 'outside', address: 'anonymous' },
    { number: 'anonymous', name: 'Anonymous' },
  ],
  [
    { kind: 'cli', cli: null },
    { number: '+15550000', isWithheld: false },
  ],
  [
    { kind: 'cli', cli: 'anonymous' },
    { number: '+15550000', isWithheld: true },
  ],
] as const)('a called party is shown %j as %j', (party, shown) => {
  expect(parties.shownAs('acme', party)).toEqual(shown)
})

test('an agent is reached by every spelling of its URI and of its extension', async () => {
  for (const address of ['SIP:alice@ACME.example', '8101', ' 81-01', 'tel:8101']) {
    expect(await parties.called('acme', address)).toMatchObject({ agentUri: 'sip:alice@acme.example', refusal: null })
  }
})
