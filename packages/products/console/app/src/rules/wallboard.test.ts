import type { Agent, Leg } from '../api/model.ts'
import { wallRows } from './wallboard.ts'

const NOW = Date.parse('2026-11-20T12:10:00Z')

const leg = (callId: string, state: number, secondsAgo: number): Leg =>
  ({ callId, state, occurredAt: new Date(NOW - secondsAgo * 1_000).toISOString() }) as Leg

const agent = (name: string, more: Partial<Agent> = {}): Agent =>
  ({ agentUri: `sip:${name}@acme.example`, statusCode: 2, since: null, calls: [], ...more }) as Agent

test('agents with a concern come first, then agents in calls, then the others by name', () => {
  const rows = wallRows(
    [
      agent('e2e-10'),
      agent('e2e-9'),
      agent('busy', { calls: [leg('1', 3, 1)] }),
      agent('stuck', { calls: [leg('2', 4, 600)] }),
    ],
    NOW,
  )
  expect(rows.map(({ agent }) => agent.agentUri.slice(4, -13))).toEqual(['stuck', 'busy', 'e2e-9', 'e2e-10'])
})

test('an agent with two legs has two rows', () => {
  const rows = wallRows([agent('alice', { calls: [leg('1', 4, 1), leg('2', 3, 1)] })], NOW)
  expect(rows.map(({ isFirst, leg }) => [isFirst, leg?.callId])).toEqual([
    [true, '1'],
    [false, '2'],
  ])
})

test.each([
  [2, 29, null],
  [2, 31, 'rings for long'],
  [4, 121, 'held for long'],
  [3, 9_999, null],
])('a leg in state %i for %i s', (state, seconds, concern) => {
  expect(wallRows([agent('a', { calls: [leg('1', state, seconds)] })], NOW)[0]?.concern).toBe(concern)
})

test('long after-call work stands out', () => {
  const since = new Date(NOW - 301_000).toISOString()
  expect(wallRows([agent('a', { statusCode: 146, since })], NOW)[0]?.concern).toBe('long after-call work')
})
