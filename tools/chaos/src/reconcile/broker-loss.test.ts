import type { BrokerLoss, Observation, Post } from './observation.ts'
import { reconcile } from './reconcile.ts'
import { AGENT, observed, post } from './testing/sample-observation.ts'

const ENDPOINTS = [...observed().endpoints, { name: 'other', subscriptionId: 's2', eventTypes: ['call.status'] }]

/** The broker died at 100 s, with everything that it held. It had confirmed the events e1 and e2. */
const LOSS: BrokerLoss = { atMs: 100_000, confirmed: new Set(['e1', 'e2']) }

const platform = (eventId: string, occurredAtMs: number, endpoint = 'healthy'): Post =>
  post({ endpoint, deliveryId: `${eventId} ${endpoint}`, content: { kind: 'platform', eventId }, occurredAtMs })

const leg = (sequence: number, occurredAtMs: number, isEnd = false): Post =>
  post({
    deliveryId: `leg ${sequence}`,
    content: { kind: 'leg', callId: 'c1', agentUri: AGENT, sequence, state: isEnd ? 7 : 2 },
    occurredAtMs,
  })

const resultOf = (more: Partial<Observation>): { readonly kinds: readonly string[]; readonly lost: number } => {
  const { problems, lostWithBroker } = reconcile(observed({ brokerLosses: [LOSS], ...more }))
  return { kinds: problems.map(({ kind }) => kind), lost: lostWithBroker }
}

test.each<[string, Partial<Observation>, number]>([
  ['a delivery of an event that was confirmed before', { endpoints: ENDPOINTS, posts: [platform('e1', 99_000)] }, 1],
  ['every delivery of such an event', { confirmed: ['e1', 'e2'], posts: [platform('e1', 99_000)] }, 1],
  ['an event of a call that occurred before', { posts: [post(), leg(1, 98_000), leg(3, 99_500, true)] }, 0],
  ['the end of such a call', { posts: [post(), leg(1, 99_000)] }, 0],
])('excuses %s', (_what, more, lost) => {
  expect(resultOf(more)).toMatchObject({ kinds: [] })
  if (lost > 0) expect(resultOf(more).lost).toBe(lost)
})

test.each<[string, Partial<Observation>, string]>([
  [
    'a delivery of an event that occurred after it',
    { endpoints: ENDPOINTS, confirmed: ['e3'], posts: [platform('e3', 101_000)] },
    'missing',
  ],
  ['an event that was confirmed after it and reached no subscription', { confirmed: ['e1', 'e3'] }, 'missing'],
  ['an event of a call that occurred after it', { posts: [post(), leg(1, 101_000), leg(3, 102_000, true)] }, 'gap'],
  ['a call of long before', { posts: [post(), leg(1, 10_000), leg(3, 11_000, true)] }, 'gap'],
])('does not excuse %s', (_what, more, kind) => {
  expect(resultOf(more).kinds).toContain(kind)
})
