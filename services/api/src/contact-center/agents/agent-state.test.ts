import { STATUS_NAMES } from '@switchhook/contracts'
import { newAgent } from '../center/agent.ts'
import { stateOf } from './agent-routes.ts'
import { agentStateSchema } from './agent-schemas.ts'

test('the state of an agent has its fields in the documented order', () => {
  expect(Object.keys(stateOf(newAgent('sip:alice@acme.example'), STATUS_NAMES))).toEqual(agentStateSchema.required)
})
