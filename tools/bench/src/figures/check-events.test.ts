import { checkEvents } from './check-events.ts'

const leg = (sequence: number, state: number, callId = 'one') => ({
  eventType: 'call.status',
  data: { callId, agentUri: 'sip:a@b.example', sequence, state },
})
const agent = (sequence: number) => ({ eventType: 'agent.status', data: { agentUri: 'sip:a@b.example', sequence } })

test.each([
  ['a whole leg, in any order', [leg(2, 3), leg(1, 2), leg(3, 7)], { missing: 0, unended: 0 }],
  ['a leg with a gap', [leg(1, 2), leg(3, 7)], { missing: 1, unended: 0 }],
  ['a leg without its beginning', [leg(2, 3), leg(3, 7)], { missing: 1 }],
  ['a leg without its end', [leg(1, 2)], { missing: 0, unended: 1 }],
  ['an event that came twice', [leg(1, 2), leg(2, 7), leg(2, 7)], { missing: 0, unended: 0 }],
  ['an agent from the middle on', [agent(5), agent(6)], { missing: 0 }],
  ['an agent with a gap', [agent(5), agent(7)], { missing: 1 }],
])('%s', (_name, events, verdict) => {
  expect(checkEvents(events)).toMatchObject(verdict)
})
