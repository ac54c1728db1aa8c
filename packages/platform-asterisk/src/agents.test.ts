import { type PbxAgent, pbxAgents, provisioned } from './agents.ts'

const alice: PbxAgent = {
  agentUri: 'sip:alice@acme.example',
  tenant: 'acme',
  endpoint: 'alice',
  extension: '8101',
  answer: 'talk',
}
const other: PbxAgent = { ...alice, tenant: 'globex', endpoint: 'alice2' }

test('tenants may use the same URI and extension, and do not see each other', () => {
  const agents = pbxAgents([alice, other])
  expect(agents.find('acme', alice.agentUri)).toBe(alice)
  expect(agents.find(null, alice.agentUri)).toBeUndefined()
  expect(agents.withExtension('globex', '8101')).toBe(other)
  expect(agents.calledAt('8101')).toBeUndefined()
  expect(pbxAgents([alice]).calledAt('8101')).toBe(alice)
})

test.each<[string, PbxAgent]>([
  ['the same tenant and URI', { ...alice, endpoint: 'x', extension: null }],
  ['the same endpoint', { ...other, endpoint: 'alice' }],
  ['the same tenant and extension', { ...alice, agentUri: 'sip:bob@acme.example', endpoint: 'bob' }],
])('two agents with %s are refused', (what, second) => {
  expect(() => pbxAgents([alice, second])).toThrow(what)
})

test('a name that could be anything but an endpoint is refused', () => {
  expect(() => pbxAgents([{ ...alice, endpoint: 'alice@x/n' }])).toThrow(TypeError)
})

test('only a phone that cannot be made to answer says so', () => {
  expect(provisioned(alice)).toEqual({ agentUri: alice.agentUri, tenant: 'acme', device: 'PJSIP/alice' })
  expect(provisioned({ ...alice, answer: 'none' })).toMatchObject({ remoteAnswer: false })
})
