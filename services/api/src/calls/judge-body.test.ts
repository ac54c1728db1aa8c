import { compileSchema } from '@switchhook/contracts'
import { dialSchema } from './call-schemas.ts'
import { judgeBody } from './judge-body.ts'

function judge(body: unknown) {
  const result = compileSchema<unknown>(dialSchema)(body)
  return judgeBody(401, 'destination')(body, result.ok ? [] : result.faults)
}

test.each<[unknown, string[]]>([
  [{}, ['/agentUri', '/destination']],
  [{ agentUri: null, destination: 7 }, ['/agentUri', '/destination']],
  [{ agentUri: '', destination: '+15550100' }, ['/agentUri']],
  [[], ['/agentUri', '']],
])('a dial of %j names no agent, whatever else is wrong with it, which is told as well', (body, pointers) => {
  const failure = judge(body)
  expect([failure?.code, failure?.extra.status]).toEqual(['missing-agent-uri', 401])
  expect(failure?.extra.detail).toBe('The body has no agentUri; another token does not help')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(pointers)
})

test.each<[unknown, string[]]>([
  [{ agentUri: 7, destination: '' }, ['/agentUri', '/destination']],
  [{ agentUri: 'sip:a@acme.example', destination: 'sip:a@acme.example' }, ['/destination']],
])('a dial of %j is an invalid request', (body, pointers) => {
  const failure = judge(body)
  expect(failure?.code).toBe('invalid-request')
  expect(failure?.extra.errors?.map(({ pointer }) => pointer)).toEqual(pointers)
})

test('a dial of one to another has no fault', () => {
  expect(judge({ agentUri: 'sip:a@acme.example', destination: '+15550100' })).toBeUndefined()
})
