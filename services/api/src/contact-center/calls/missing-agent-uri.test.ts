import { compileSchema } from '@switchhook/contracts'
import { dialSchema } from './call-schemas.ts'
import { validateCallCommand } from './missing-agent-uri.ts'

function validateDial(body: unknown) {
  const result = compileSchema<unknown>(dialSchema)(body)
  return validateCallCommand('destination')(body, result.ok ? [] : result.faults)
}

/** Bodies without an agentUri, and the pointers of their errors. `undefined`: a request without a body. */
const WITHOUT_AGENT_URI: [unknown, string[]][] = [
  [undefined, ['/agentUri', '']],
  [{}, ['/agentUri', '/destination']],
  [{ destination: '+15550100' }, ['/agentUri']],
  [{ agentUri: null, destination: 7 }, ['/agentUri', '/destination']],
  [{ agentUri: '', destination: '+15550100' }, ['/agentUri']],
  [null, ['/agentUri', '']],
  [[], ['/agentUri', '']],
  ['x', ['/agentUri', '']],
  ['', ['/agentUri', '']],
  [7, ['/agentUri', '']],
  [true, ['/agentUri', '']],
]

test.each(WITHOUT_AGENT_URI)(
  'a dial with the body %j has no agentUri: 401, with every other fault listed',
  (body, pointers) => {
    const failure = validateDial(body)
    expect([failure?.code, failure?.extra.status]).toEqual(['missing-agent-uri', 401])
    expect(failure?.extra.detail).toMatch(/agentUri\. A new access token does not help\.$/)
    expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(pointers)
  },
)

test.each(WITHOUT_AGENT_URI)(
  'a command on a leg with the body %j has no agentUri: 400, without a word about tokens',
  (body) => {
    const failure = validateCallCommand()(body, [])
    expect([failure?.code, failure?.extra.status]).toEqual(['missing-agent-uri', 400])
    expect(failure?.extra.detail).not.toContain('token')
  },
)

test.each<[unknown, string[]]>([
  [{ agentUri: 7, destination: '' }, ['/agentUri', '/destination']],
  [{ agentUri: false, destination: '+15550100' }, ['/agentUri']],
  [{ agentUri: [], destination: '+15550100' }, ['/agentUri']],
  [{ agentUri: {}, destination: '+15550100' }, ['/agentUri']],
  [{ agentUri: 'sip:a@acme.example', destination: 'sip:a@acme.example' }, ['/destination']],
  [{ agentUri: 'sip:a@acme.example', destination: '+15550100', cli: 'letters' }, ['/cli']],
  [{ agentUri: 'sip:a@acme.example', destination: '+15550100', cli: '1'.repeat(40) }, ['/cli']],
])('a dial of %j is an invalid request', (body, pointers) => {
  const failure = validateDial(body)
  expect(failure?.code).toBe('invalid-request')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(pointers)
})

test('a dial to another party is valid', () => {
  expect(validateDial({ agentUri: 'sip:a@acme.example', destination: '+15550100' })).toBeUndefined()
})
