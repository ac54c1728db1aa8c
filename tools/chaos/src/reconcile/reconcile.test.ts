import type { Content, Observation, Post } from './observation.ts'
import type { Problem } from './problem.ts'
import { reconcile } from './reconcile.ts'
import { AGENT, observed, post } from './testing/sample-observation.ts'

const leg = (sequence: number, more: Partial<Post> = {}, isEnd = false): Post =>
  post({
    deliveryId: `leg-${sequence}`,
    content: { kind: 'leg', callId: 'c1', agentUri: AGENT, sequence, state: isEnd ? 7 : 2 },
    occurredAtMs: 900 + sequence,
    ...more,
  })

const agent = (sequence: number, more: Partial<Post> = {}): Post =>
  post({
    deliveryId: `agent-${sequence}`,
    content: { kind: 'agent', agentUri: AGENT, sequence, state: 2 },
    occurredAtMs: 900 + sequence,
    ...more,
  })

const CALL = [leg(1), leg(2), leg(3, {}, true)]
const TWO = [
  { name: 'healthy', subscriptionId: 's1', eventTypes: ['call.status', 'agent.status'] },
  { name: 'other', subscriptionId: 's2', eventTypes: ['call.status'] },
]
const FILTERED = [
  ...TWO.slice(0, 1),
  {
    name: 'ends',
    subscriptionId: 's2',
    eventTypes: ['call.status'],
    passes: (content: Content) => content.kind === 'leg' && content.state === 7,
  },
]
const PULLED = [
  ...TWO.slice(0, 1),
  { name: 'pulled', subscriptionId: 's2', eventTypes: ['agent.status'], mode: 'pull' as const },
]
const EXPIRING = [
  ...TWO.slice(0, 1),
  { name: 'expiring', subscriptionId: 's2', eventTypes: ['agent.status', 'call.status'], expireAfterSeconds: 10 },
]
const atExpiring = (of: Post, ageMs = 100): Post => {
  const atMs = of.occurredAtMs + ageMs
  return { ...of, endpoint: 'expiring', deliveryId: `${of.deliveryId}-expiring`, beganAtMs: atMs, atMs }
}
const e2 = { endpoint: 'expiring', eventId: 'e2', occurredAtMs: 901, byMs: 10_901 }
const expired = [e2]
const AT_ONCE = { fromMs: 900, toMs: 1_000 }
const rejected = post({ status: 400 })
const FAULT = [{ fromMs: 1_000, toMs: 1_000 }]
const MESSAGE_DUPLICATES = FAULT.map((fault) => ({ ...fault, duplicatesMessages: true }))
const EVENT_DUPLICATES = FAULT.map((fault) => ({ ...fault, duplicatesEvents: true }))
const parked = [{ endpoint: 'healthy', deliveryId: 'd1', run: 1, reason: 'rejected' }]

test.each<[string, Observation]>([
  ['a confirmed event was acknowledged', observed()],
  ['it was acknowledged after failures', observed({ posts: [post({ status: 503 }), post({ attempt: 2 })] })],
  [
    'it was acknowledged after a POST that the death of its worker interrupted',
    observed({ posts: [post({ status: null }), post()], disturbances: EVENT_DUPLICATES }),
  ],
  [
    'its event was published three times',
    observed({ posts: [post({ status: 503 }), post(), post()], publishes: new Map([['e1', 3]]) }),
  ],
  [
    'its event was published twice, and the first attempt of the second duplicate arrived late',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2 }), post()], publishes: new Map([['e1', 2]]) }),
  ],
  [
    'its second attempt was made twice around the death of a worker',
    observed({
      posts: [post({ status: 503 }), post({ attempt: 2, status: 503 }), post({ attempt: 2, atMs: 2_000 })],
      disturbances: [{ fromMs: 1_500, toMs: 1_600, duplicatesMessages: true }],
    }),
  ],
  [
    'its first attempt was made twice, because two duplicates of its event had waited in queues since a fault',
    observed({
      posts: [post({ status: 503, atMs: 40_000 }), post({ atMs: 41_000 })],
      disturbances: [{ fromMs: 1_500, toMs: 5_000, duplicatesEvents: true }],
    }),
  ],
  ['it was rejected and parked', observed({ posts: [rejected], parked })],
  [
    'it was rejected twice because the worker died in between',
    observed({ posts: [rejected, rejected], parked, disturbances: EVENT_DUPLICATES }),
  ],
  [
    'every event of a call arrived',
    observed({ posts: [post(), ...CALL], calls: [{ callId: 'c1', agentUri: AGENT, atMs: 1_000 }] }),
  ],
  ['the events of a call arrived in another order', observed({ posts: [post(), ...CALL.toReversed()] })],
  ['the events of an agent have no gap', observed({ posts: [post(), agent(1), agent(2)] })],
  [
    'each subscription got the events of its types',
    observed({
      endpoints: TWO,
      posts: [post(), post({ endpoint: 'other', deliveryId: 'd2' }), agent(1)],
    }),
  ],
  [
    'a subscription whose filter passes the ends of calls got each end, and nothing else',
    observed({ endpoints: FILTERED, posts: [post(), ...CALL, leg(3, { endpoint: 'ends', deliveryId: 'd2' }, true)] }),
  ],
  [
    'a puller released an attempt, and received it again',
    observed({ posts: [post({ status: null, isReleased: true }), post()] }),
  ],
  [
    'a rollback of Redis lost a delivery that waited to be pulled',
    observed({ endpoints: PULLED, posts: [post(), agent(1)], lapses: [{ kind: 'rolled back', ...AT_ONCE }] }),
  ],
  [
    'a delivery has expired, and the api says so',
    observed({ endpoints: EXPIRING, posts: [post(), atExpiring(post()), agent(1, { eventId: 'e2' })], expired }),
  ],
  [
    'a delivery has expired after an attempt',
    observed({
      endpoints: EXPIRING,
      posts: [
        post(),
        atExpiring(post()),
        agent(1, { eventId: 'e2' }),
        atExpiring(agent(1, { eventId: 'e2', status: 503 }), 9_999),
      ],
      expired,
    }),
  ],
  [
    'the end of a call was sent long after it',
    observed({
      endpoints: EXPIRING,
      posts: [post(), atExpiring(post()), leg(1, {}, true), atExpiring(leg(1, {}, true), 60_000)],
    }),
  ],
  [
    'a rollback of Redis lost that a delivery had expired',
    observed({
      endpoints: EXPIRING,
      posts: [post(), atExpiring(post()), agent(1)],
      lapses: [{ kind: 'rolled back', fromMs: 12_000, toMs: 13_000 }],
    }),
  ],
  [
    'an attempt number steps back around a fault',
    observed({
      posts: [post({ status: 503 }), post({ attempt: 2, status: 503, atMs: 2_000 }), post({ atMs: 3_000 })],
      disturbances: [{ fromMs: 1_500, toMs: 1_600, duplicatesEvents: true }],
    }),
  ],
])('finds no problem if %s', (_name, observation) => {
  expect(reconcile(observation).problems).toEqual([])
})

test.each<[string, Observation, Problem]>([
  [
    'a confirmed event never arrived',
    observed({ posts: [] }),
    { kind: 'missing', what: 'platform e1 at healthy (0 POSTs)' },
  ],
  [
    'an event arrived but was never acknowledged',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, status: null })] }),
    { kind: 'missing', what: 'platform e1 at healthy (2 POSTs)' },
  ],
  [
    'only one of two subscriptions got an event',
    observed({ endpoints: TWO }),
    { kind: 'missing', what: 'platform e1 at other (0 POSTs)' },
  ],
  [
    'an unconfirmed event reached only one of two subscriptions',
    observed({ endpoints: TWO, confirmed: [], posts: CALL }),
    { kind: 'missing', what: `leg c1 ${AGENT} 1 at other (0 POSTs)` },
  ],
  [
    'a filter withheld the end of a call',
    observed({ endpoints: FILTERED, posts: [post(), ...CALL] }),
    { kind: 'missing', what: `leg c1 ${AGENT} 3 at ends (0 POSTs)` },
  ],
  [
    'a filter let another event pass',
    observed({
      endpoints: FILTERED,
      posts: [post(), leg(1), leg(1, { endpoint: 'ends', deliveryId: 'd2' }), leg(2, {}, true)],
    }),
    { kind: 'not filtered', what: `leg c1 ${AGENT} 1 at ends` },
  ],
  [
    'a delivery that waited to be pulled is missing, and Redis lost nothing',
    observed({ endpoints: PULLED, posts: [post(), agent(1)], lapses: [{ kind: 'empty', ...AT_ONCE }] }),
    { kind: 'missing', what: `agent ${AGENT} 1 at pulled (0 POSTs)` },
  ],
  [
    'a released attempt was received a third time',
    observed({ posts: [post({ status: null, isReleased: true }), post(), post()] }),
    { kind: 'attempt repeated', what: 'd1 at healthy, attempt 1, at 00:00:01.000 and 00:00:01.000' },
  ],
  [
    'an accepted call has no event',
    observed({ calls: [{ callId: 'c2', agentUri: AGENT, atMs: 1_000 }] }),
    { kind: 'missing', what: `leg c2 ${AGENT} 1 at healthy (0 POSTs)` },
  ],
  [
    'the only event of an accepted call is its end',
    observed({ posts: [post(), leg(1, {}, true)], calls: [{ callId: 'c1', agentUri: AGENT, atMs: 1_000 }] }),
    { kind: 'no beginning', what: `leg c1 ${AGENT}: accepted, but its first event is its end` },
  ],
  [
    'a sequence has a gap',
    observed({ posts: [post(), leg(1), leg(3, {}, true)] }),
    { kind: 'gap', what: `leg c1 ${AGENT}: no endpoint received 2` },
  ],
  [
    'a sequence does not begin with 1',
    observed({ posts: [post(), agent(2)] }),
    { kind: 'gap', what: `agent ${AGENT}: no endpoint received 1` },
  ],
  ['a call has no end', observed({ posts: [post(), leg(1), leg(2)] }), { kind: 'no end', what: `leg c1 ${AGENT}` }],
  [
    'an event follows the end of a call',
    observed({ posts: [post(), leg(1), leg(2, {}, true), leg(3)] }),
    { kind: 'no end', what: `leg c1 ${AGENT}` },
  ],
  [
    'an event became two deliveries',
    observed({ posts: [post(), post({ deliveryId: 'd9' })] }),
    { kind: 'two deliveries of one event', what: 'platform e1 at healthy, of 1970-01-01T00:00:00.900Z' },
  ],
  [
    'the body of a later attempt differs',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, digest: 'y' })] }),
    {
      kind: 'body changed',
      what: 'd1 at healthy, attempt 2, at 00:00:01.000 of 00:00:00.900, at 00:00:01.000 of 00:00:00.900',
    },
  ],
  [
    'a lasting header of a later attempt differs',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, lasting: '' })] }),
    { kind: 'headers changed', what: 'd1 at healthy, attempt 2' },
  ],
  [
    'an attempt is not signed',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, flaws: ['is not signed'] })] }),
    { kind: 'signature or headers', what: 'd1 at healthy: is not signed' },
  ],
  [
    'an attempt number steps back without a fault',
    observed({
      posts: [post({ status: 503 }), post({ attempt: 2, status: 503, atMs: 2_000 }), post({ atMs: 3_000 })],
      disturbances: [{ fromMs: 4_000, toMs: 5_000 }],
    }),
    { kind: 'attempt number', what: 'd1 at healthy says 1 after 2' },
  ],
  [
    'a second attempt is made twice without a fault that leaves two duplicates',
    observed({
      posts: [post({ status: 503 }), post({ attempt: 2, status: 503 }), post({ attempt: 2, atMs: 2_000 })],
      disturbances: [{ fromMs: 1_500, toMs: 1_600 }],
    }),
    { kind: 'attempt repeated', what: 'd1 at healthy, attempt 2, at 00:00:01.000 and 00:00:02.000' },
  ],
  [
    'a second attempt is made twice after a fault that ended before the first of them',
    observed({
      posts: [
        post({ status: 503 }),
        post({ attempt: 2, status: 503, atMs: 20_000 }),
        post({ attempt: 2, atMs: 21_000 }),
      ],
      disturbances: [{ fromMs: 1_500, toMs: 9_000, duplicatesMessages: true }],
    }),
    { kind: 'attempt repeated', what: 'd1 at healthy, attempt 2, at 00:00:20.000 and 00:00:21.000' },
  ],
  [
    'an attempt is made twelve times around a fault',
    observed({ posts: Array.from({ length: 12 }, () => post()), disturbances: EVENT_DUPLICATES }),
    { kind: 'attempt repeated', what: 'd1 at healthy, attempt 1, at 00:00:01.000 and 00:00:01.000' },
  ],
  [
    'a first attempt is made twice, long after a fault that leaves two duplicates of an event',
    observed({
      posts: [post({ status: 503, atMs: 50_000 }), post({ atMs: 51_000 })],
      disturbances: [{ fromMs: 1_500, toMs: 5_000, duplicatesEvents: true }],
    }),
    { kind: 'attempt repeated', what: 'd1 at healthy, attempt 1, at 00:00:50.000 and 00:00:51.000' },
  ],
  [
    'a first attempt is made three times, although its event was published twice',
    observed({ posts: [post(), post(), post()], publishes: new Map([['e1', 2]]), disturbances: MESSAGE_DUPLICATES }),
    { kind: 'attempt repeated', what: 'd1 at healthy, attempt 1, at 00:00:01.000 and 00:00:01.000' },
  ],
  [
    'the first attempt of an event of a call is made twice without a fault that leaves two duplicates',
    observed({ posts: [post(), ...CALL, leg(2)], disturbances: FAULT }),
    { kind: 'attempt repeated', what: 'leg-2 at healthy, attempt 1, at 00:00:01.000 and 00:00:01.000' },
  ],
  [
    'attempts are counted from 0',
    observed({ posts: [post({ attempt: 0 })] }),
    { kind: 'attempt number', what: 'd1 at healthy says 0' },
  ],
  [
    'a delivery is missing, and the api does not say that it has expired',
    observed({ endpoints: EXPIRING, posts: [post(), atExpiring(post()), agent(1)], expired }),
    { kind: 'missing', what: `agent ${AGENT} 1 at expiring (0 POSTs)` },
  ],
  [
    'the end of a call has expired',
    observed({ endpoints: EXPIRING, posts: [post(), atExpiring(post()), leg(1, { eventId: 'e2' }, true)], expired }),
    { kind: 'missing', what: `leg c1 ${AGENT} 1 at expiring (0 POSTs)` },
  ],
  [
    'a delivery has expired at an endpoint whose events do not',
    observed({ endpoints: TWO, posts: [post({ eventId: 'e2' })], expired: [{ ...e2, endpoint: 'other' }] }),
    { kind: 'missing', what: 'platform e1 at other (0 POSTs)' },
  ],
  [
    'a delivery was sent after its expiry',
    observed({ endpoints: EXPIRING, posts: [post(), atExpiring(post(), 15_001)] }),
    { kind: 'sent after its expiry', what: 'd1-expiring at expiring, attempt 1, 15001 ms old' },
  ],
  [
    'a delivery has expired before its event was old enough',
    observed({
      endpoints: EXPIRING,
      posts: [post(), atExpiring(post()), agent(1, { eventId: 'e2' })],
      expired: [{ ...e2, byMs: 10_900 }],
    }),
    { kind: 'expired too early', what: 'e2 at expiring, at most 9999 ms old' },
  ],
  [
    'a delivery is parked without a rejection',
    observed({ parked }),
    { kind: 'wrongly parked', what: 'd1 at healthy: rejected' },
  ],
  [
    'a rejected delivery is parked for another reason',
    observed({ posts: [rejected], parked: [{ endpoint: 'healthy', deliveryId: 'd1', run: 1, reason: 'exhausted' }] }),
    { kind: 'wrongly parked', what: 'd1 at healthy: exhausted' },
  ],
  [
    'an unknown delivery is parked',
    observed({ parked: [{ endpoint: 'healthy', deliveryId: 'd9', run: 1, reason: 'rejected' }] }),
    { kind: 'wrongly parked', what: 'd9 at healthy: rejected' },
  ],
  [
    'a delivery that was never acknowledged is parked without a rejection',
    observed({ posts: [post({ status: 503 })], parked }),
    { kind: 'missing', what: 'platform e1 at healthy (1 POSTs)' },
  ],
  [
    'a delivery is parked as rejected after a retryable status',
    observed({ posts: [post({ status: 429 })], parked }),
    { kind: 'wrongly parked', what: 'd1 at healthy: rejected' },
  ],
  [
    'a rejected delivery is not parked',
    observed({ posts: [rejected] }),
    { kind: 'rejected, not parked', what: 'd1 at healthy' },
  ],
  ['a queue is not empty', observed({ left: { quarantine: 2 } }), { kind: 'left in a queue', what: '2 in quarantine' }],
  ['a service is not ready', observed({ notReady: ['api-1'] }), { kind: 'not ready', what: 'api-1' }],
])('reports that %s', (_name, observation, problem) => {
  expect(reconcile(observation).problems).toContainEqual(problem)
})

test('reports a delivery that only failed as missing and nothing else', () => {
  const { problems } = reconcile(observed({ posts: [post({ status: 503 }), post({ attempt: 2, status: null })] }))
  expect(problems.map(({ kind }) => kind)).toEqual(['missing'])
})

test('counts events, deliveries, POSTs and duplicates', () => {
  const posts = [
    post({ status: 503 }),
    post({ attempt: 2 }),
    post({ attempt: 2 }),
    ...CALL,
    post({ deliveryId: 'd2', content: { kind: 'platform', eventId: 'e2' }, status: 400 }),
  ]
  const observation = observed({
    posts,
    confirmed: ['e1', 'e2'],
    disturbances: MESSAGE_DUPLICATES,
    parked: [{ endpoint: 'healthy', deliveryId: 'd2', run: 1, reason: 'rejected' }],
  })
  expect(reconcile(observation)).toEqual({
    problems: [],
    events: 5,
    legs: 1,
    lostWithBroker: 0,
    missing: 0,
    deliveries: 5,
    acknowledged: 4,
    parked: 1,
    expired: 0,
    recovered: 0,
    exhausted: 0,
    forgotten: 0,
    repeated: 0,
    recordedAgain: 0,
    changedNotices: 0,
    applied: 0,
    closures: 0,
    notices: { parked: 0, failing: 0, recovered: 0 },
    posts: 7,
    duplicates: 1,
    stepsBack: 0,
    repeatedAttempts: 1,
  })
})
