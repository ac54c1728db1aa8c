import type { Observation, Post } from './observation.ts'
import { type Problem, reconcile } from './reconcile.ts'

const AGENT = 'sip:a@acme.example'

const post = (more: Partial<Post> = {}): Post => ({
  endpoint: 'well',
  deliveryId: 'd1',
  attempt: 1,
  told: { kind: 'own', eventId: 'e1' },
  digest: 'x',
  lasting: 'x-svc-event: call.status',
  flaws: [],
  beganAtMs: 1_000,
  atMs: 1_000,
  occurredAtMs: 900,
  status: 204,
  ...more,
})

const leg = (sequence: number, more: Partial<Post> = {}, isEnd = false): Post =>
  post({
    deliveryId: `leg-${sequence}`,
    told: { kind: 'leg', callId: 'c1', agentUri: AGENT, sequence, isEnd },
    ...more,
  })

const agent = (sequence: number, more: Partial<Post> = {}): Post =>
  post({ deliveryId: `agent-${sequence}`, told: { kind: 'agent', agentUri: AGENT, sequence }, ...more })

const observed = (more: Partial<Observation> = {}): Observation => ({
  endpoints: [{ name: 'well', subscriptionId: 's1', eventTypes: ['call.status', 'agent.status'] }],
  confirmed: ['e1'],
  calls: [],
  posts: [post()],
  parked: [],
  guests: [],
  closures: [],
  lapses: [],
  recoveries: [],
  disturbances: [],
  absences: [],
  left: { 'delivery.due': 0 },
  notReady: [],
  ...more,
})

const CALL = [leg(1), leg(2), leg(3, {}, true)]
const TWO = [
  { name: 'well', subscriptionId: 's1', eventTypes: ['call.status', 'agent.status'] },
  { name: 'other', subscriptionId: 's2', eventTypes: ['call.status'] },
]
const rejected = post({ status: 400 })
const parked = [{ endpoint: 'well', deliveryId: 'd1', run: 1, reason: 'rejected' }]

test.each<[string, Observation]>([
  ['what was confirmed was acknowledged', observed()],
  ['it was acknowledged after failures', observed({ posts: [post({ status: 503 }), post({ attempt: 2 })] })],
  ['it was acknowledged after a POST that was cut off', observed({ posts: [post({ status: null }), post()] })],
  ['it was rejected, and is parked', observed({ posts: [rejected], parked })],
  ['it was rejected twice, as the worker died in between', observed({ posts: [rejected, rejected], parked })],
  [
    'a call was told to its end',
    observed({ posts: [post(), ...CALL], calls: [{ callId: 'c1', agentUri: AGENT, atMs: 1_000 }] }),
  ],
  ['the events of a call came in any order', observed({ posts: [post(), ...CALL.toReversed()] })],
  ['an agent was told of without a gap', observed({ posts: [post(), agent(1), agent(2)] })],
  [
    'everybody got what is theirs',
    observed({
      endpoints: TWO,
      posts: [post(), post({ endpoint: 'other', deliveryId: 'd2' }), agent(1)],
    }),
  ],
  [
    'an attempt number steps back around a fault',
    observed({
      posts: [post({ status: 503 }), post({ attempt: 2, status: 503, atMs: 2_000 }), post({ atMs: 3_000 })],
      disturbances: [{ fromMs: 1_500, toMs: 1_600 }],
    }),
  ],
])('nothing is wrong if %s', (_name, observation) => {
  expect(reconcile(observation).problems).toEqual([])
})

test.each<[string, Observation, Problem]>([
  ['what was confirmed never came', observed({ posts: [] }), { kind: 'missing', what: 'own e1 at well (0 POSTs)' }],
  [
    'it came and was never acknowledged',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, status: null })] }),
    { kind: 'missing', what: 'own e1 at well (2 POSTs)' },
  ],
  [
    'one subscription got what another did not',
    observed({ endpoints: TWO }),
    { kind: 'missing', what: 'own e1 at other (0 POSTs)' },
  ],
  [
    'what nobody confirmed reached only some',
    observed({ endpoints: TWO, confirmed: [], posts: CALL }),
    { kind: 'missing', what: `leg c1 ${AGENT} 1 at other (0 POSTs)` },
  ],
  [
    'an accepted call was never told of',
    observed({ calls: [{ callId: 'c2', agentUri: AGENT, atMs: 1_000 }] }),
    { kind: 'missing', what: `leg c2 ${AGENT}: accepted, and nothing was told of it` },
  ],
  [
    'a sequence has a gap',
    observed({ posts: [post(), leg(1), leg(3, {}, true)] }),
    { kind: 'gap', what: `leg c1 ${AGENT}: nobody was told 2` },
  ],
  [
    'a sequence does not begin with 1',
    observed({ posts: [post(), agent(2)] }),
    { kind: 'gap', what: `agent ${AGENT}: nobody was told 1` },
  ],
  [
    'a call has no end',
    observed({ posts: [post(), leg(1), leg(2)] }),
    { kind: 'without an end', what: `leg c1 ${AGENT}` },
  ],
  [
    'something is told after the end',
    observed({ posts: [post(), leg(1), leg(2, {}, true), leg(3)] }),
    { kind: 'without an end', what: `leg c1 ${AGENT}` },
  ],
  [
    'an event became two deliveries',
    observed({ posts: [post(), post({ deliveryId: 'd9' })] }),
    { kind: 'two deliveries of one event', what: 'own e1 at well' },
  ],
  [
    'the body of a later attempt differs',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, digest: 'y' })] }),
    { kind: 'body changed', what: 'd1 at well, attempt 2' },
  ],
  [
    'what has to last of the headers of a later attempt differs',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, lasting: '' })] }),
    { kind: 'headers changed', what: 'd1 at well, attempt 2' },
  ],
  [
    'an attempt is not signed',
    observed({ posts: [post({ status: 503 }), post({ attempt: 2, flaws: ['is not signed'] })] }),
    { kind: 'signature or headers', what: 'd1 at well: is not signed' },
  ],
  [
    'an attempt number steps back without a fault',
    observed({
      posts: [post({ status: 503 }), post({ attempt: 2, status: 503, atMs: 2_000 }), post({ atMs: 3_000 })],
      disturbances: [{ fromMs: 4_000, toMs: 5_000 }],
    }),
    { kind: 'attempt number', what: 'd1 at well says 1 after 2' },
  ],
  [
    'attempts are counted from 0',
    observed({ posts: [post({ attempt: 0 })] }),
    { kind: 'attempt number', what: 'd1 at well says 0' },
  ],
  [
    'a delivery is parked that nobody rejected',
    observed({ parked }),
    { kind: 'wrongly parked', what: 'd1 at well: rejected' },
  ],
  [
    'a rejected one is parked for another reason',
    observed({ posts: [rejected], parked: [{ endpoint: 'well', deliveryId: 'd1', run: 1, reason: 'exhausted' }] }),
    { kind: 'wrongly parked', what: 'd1 at well: exhausted' },
  ],
  [
    'a delivery is parked of which nothing is known',
    observed({ parked: [{ endpoint: 'well', deliveryId: 'd9', run: 1, reason: 'rejected' }] }),
    { kind: 'wrongly parked', what: 'd9 at well: rejected' },
  ],
  [
    'one that was never acknowledged is parked without a rejection',
    observed({ posts: [post({ status: 503 })], parked }),
    { kind: 'missing', what: 'own e1 at well (1 POSTs)' },
  ],
  [
    'one is parked for an answer that has to be tried again',
    observed({ posts: [post({ status: 429 })], parked }),
    { kind: 'wrongly parked', what: 'd1 at well: rejected' },
  ],
  [
    'one that was rejected is not parked',
    observed({ posts: [rejected] }),
    { kind: 'rejected, not parked', what: 'd1 at well' },
  ],
  ['a queue is not empty', observed({ left: { quarantine: 2 } }), { kind: 'left in a queue', what: '2 in quarantine' }],
  ['a service is not ready', observed({ notReady: ['api-1'] }), { kind: 'not ready', what: 'api-1' }],
])('it is told that %s', (_name, observation, problem) => {
  expect(reconcile(observation).problems).toContainEqual(problem)
})

test('one that only failed is missing, and nothing else', () => {
  const { problems } = reconcile(observed({ posts: [post({ status: 503 }), post({ attempt: 2, status: null })] }))
  expect(problems.map(({ kind }) => kind)).toEqual(['missing'])
})

test('it counts', () => {
  const posts = [
    post({ status: 503 }),
    post({ attempt: 2 }),
    post({ attempt: 2 }),
    ...CALL,
    post({ deliveryId: 'd2', told: { kind: 'own', eventId: 'e2' }, status: 400 }),
  ]
  const observation = observed({
    posts,
    confirmed: ['e1', 'e2'],
    parked: [{ endpoint: 'well', deliveryId: 'd2', run: 1, reason: 'rejected' }],
  })
  expect(reconcile(observation)).toEqual({
    problems: [],
    events: 5,
    legs: 1,
    deliveries: 5,
    acknowledged: 4,
    parked: 1,
    recovered: 0,
    exhausted: 0,
    forgotten: 0,
    repeated: 0,
    recordedAgain: 0,
    retold: 0,
    closures: 0,
    notices: { parked: 0, failing: 0, recovered: 0 },
    posts: 7,
    duplicates: 1,
    stepsBack: 0,
  })
})
