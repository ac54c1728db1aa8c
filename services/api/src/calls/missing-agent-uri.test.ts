import { compileSchema } from '@switchhook/contracts'
import { dialSchema } from './call-schemas.ts'
import { judgeBody } from './missing-agent-uri.ts'

function judge(body: unknown) {
  const result = compileSchema<unknown>(dialSchema)(body)
  return judgeBody(401, 'destination')(body, result.ok ? [] : result.faults)
}

/** Each JSON document that names no agent, and the pointers of its errors. `undefined`: a request without a body. */
const NAMES_NO_AGENT: [unknown, string[]][] = [
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

test.each(NAMES_NO_AGENT)(
  'a dial with the body %j names no agent: 401, with every other fault as well',
  (body, pointers) => {
    const failure = judge(body)
    expect([failure?.code, failure?.extra.status]).toEqual(['missing-agent-uri', 401])
    expect(failure?.extra.detail).toMatch(/agentUri\. A new access token does not help\.$/)
    expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(pointers)
  },
)

test.each(NAMES_NO_AGENT)(
  'a command on a leg with the body %j names no agent: 400, and says nothing of tokens',
  (body) => {
    const failure = judgeBody(400)(body, [])
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
])('a dial of %j is an invalid request', (body, pointers) => {
  const failure = judge(body)
  expect(failure?.code).toBe('invalid-request')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(pointers)
})

test('a dial of one to another has no fault', () => {
  expect(judge({ agentUri: 'sip:a@acme.example', destination: '+15550100' })).toBeUndefined()
})
