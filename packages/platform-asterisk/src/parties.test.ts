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
  [{ kind: 'agent', agentUri: 'sip:alice@acme.example', device: null }, '"8101" <8101>'],
  [{ kind: 'outside', address: '+1 (555) 9000' }, '"+15559000" <+15559000>'],
  [{ kind: 'outside', address: '+15559000', name: 'Erika' }, '"Erika" <+15559000>'],
  [{ kind: 'outside', address: '+15559000', name: 'a" <1>\r\n\\' }, '"a 1" <+15559000>'],
  [{ kind: 'outside', address: 'anonymous' }, '"Anonymous" <anonymous>'],
] as const)('a phone shows %j as %s', (party, shown) => {
  expect(parties.shownAs('acme', party)).toBe(shown)
})

test('an agent is reached by every spelling of its URI and of its extension', async () => {
  for (const address of ['SIP:alice@ACME.example', '8101', ' 81-01', 'tel:8101']) {
    expect(await parties.called('acme', address)).toMatchObject({ agentUri: 'sip:alice@acme.example', refusal: null })
  }
})
