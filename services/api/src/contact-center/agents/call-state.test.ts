import { boundRoute } from '../../testing/bound-route.ts'
import { newAgent } from '../center/agent.ts'
import { readCallState } from './agent-routes.ts'

const ALICE = 'sip:alice@acme.example'

test('`asOf` is before the reads: a call that begins during them is missing, and must not look ended', async () => {
  let nowMs = Date.UTC(2026, 0, 1)
  const whileTimePasses = async <T>(result: T): Promise<T> => {
    nowMs += 1_000
    return result
  }
  const route = boundRoute([readCallState], 'readCallState', {
    platform: { findAgent: async () => ({ agentUri: ALICE, tenant: 'acme', device: null }) },
    center: { readAgent: () => whileTimePasses(newAgent(ALICE)), readCalls: () => whileTimePasses([]) },
    now: () => nowMs,
  })
  const { body } = await route.handle({
    caller: { tenant: 'acme', clientId: 'acme-app', role: 'operator' },
    params: { agentUri: ALICE },
    query: {},
    body: undefined,
    requestId: 'direct',
    idFor: () => '',
    isKeyed: false,
    isClosed: () => false,
  })
  expect(body).toMatchObject({ asOf: '2026-01-01T00:00:00.000Z', calls: [] })
})
