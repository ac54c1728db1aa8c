import type { Notice, Observation, Post } from './observation.ts'
import type { Problem } from './problem.ts'
import { reconcile } from './reconcile.ts'
import { observed as sample } from './testing/sample-observation.ts'

const TYPES = ['webhook.endpoint.failing', 'webhook.endpoint.recovered', 'webhook.delivery.parked']
const HEALTHY = { name: 'healthy', subscriptionId: 's1', eventTypes: ['call.status'] }
const OPS = { name: 'ops', subscriptionId: 's-ops', eventTypes: TYPES }
const OPS_TOO = { name: 'ops too', subscriptionId: 's-ops-too', eventTypes: TYPES }

const post = (more: Partial<Post> = {}): Post => ({
  endpoint: 'healthy',
  eventId: 'e1',
  deliveryId: 'd1',
  attempt: 1,
  content: { kind: 'platform', eventId: 'e1' },
  digest: 'x',
  lasting: '',
  flaws: [],
  beganAtMs: 1_000,
  atMs: 1_000,
  occurredAtMs: 900,
  status: 400,
  ...more,
})

const PARKED: Notice = {
  kind: 'parked',
  subscriptionId: 's1',
  deliveryId: 'd1',
  reason: 1,
  run: 1,
  eventId: 'e2',
  ofType: 'call.status',
}
const since = (ms: number): string => new Date(ms).toISOString()
const failing = (ms: number): Notice => ({ kind: 'failing', subscriptionId: 's1', since: since(ms) })
const recovered = (ms: number): Notice => ({
  kind: 'recovered',
  subscriptionId: 's1',
  since: since(ms),
  recoveredAt: since(ms + 500),
})

const notice = (content: Notice, more: Partial<Post> = {}): Post =>
  post({
    endpoint: 'ops',
    deliveryId: `of ${content.kind} ${content.kind === 'parked' ? content.run : content.since}`,
    content,
    status: 204,
    ...more,
  })

const parked = [{ endpoint: 'healthy', deliveryId: 'd1', run: 1, reason: 'rejected' }]

/** One delivery was rejected, is parked, and was reported. */
const observed = (more: Partial<Observation> = {}): Observation =>
  sample({ endpoints: [HEALTHY, OPS], posts: [post(), notice(PARKED)], parked, ...more })

const recovery = {
  endpoint: 'healthy',
  begunAtMs: 1_000,
  state: 'done',
  skipped: 0,
  failed: 0,
  found: 1,
  sent: 1,
  deliveries: [{ deliveryId: 'd1', state: 'acknowledged', run: 2, parkedRun: 1 }],
}
const acknowledged = post({ attempt: 2, status: 204 })
const TWICE = new Map([['e1', 2]])
const outages = [{ endpoint: 'healthy', fromMs: 10_000, toMs: 17_000 }]
const OUTAGE = { posts: [post(), notice(PARKED)], outages }

test.each<[string, Partial<Observation>]>([
  ['a parked delivery has its notice', {}],
  [
    'its event was published twice, and so was the notice',
    { posts: [post(), notice(PARKED), notice(PARKED)], publishes: TWICE },
  ],
  [
    'the notice arrived before the parked delivery was sent again',
    { posts: [post(), notice(PARKED), acknowledged], parked: [], recoveries: [recovery] },
  ],
  [
    'the notice arrived although another worker delivered in the same moment',
    { posts: [post(), notice(PARKED), acknowledged], parked: [] },
  ],
  [
    'the delivery was acknowledged without being sent again, before its notice was built',
    {
      posts: [post(), acknowledged],
      parked: [],
      recoveries: [
        {
          ...recovery,
          deliveries: [{ deliveryId: 'd1', state: 'acknowledged', run: 1, parkedRun: 1 }],
          found: 0,
          sent: 0,
        },
      ],
    },
  ],
  [
    'an ops endpoint rejects its notice, which causes no other notice',
    {
      posts: [post(), notice(PARKED, { status: 400 })],
      parked: [...parked, { endpoint: 'ops', deliveryId: 'of parked 1', run: 1, reason: 'rejected' }],
    },
  ],
  [
    'an outage and its end were reported',
    { posts: [...OUTAGE.posts, notice(failing(10_500)), notice(recovered(10_500))] },
  ],
  ['the end of an outage was not reported', { posts: [...OUTAGE.posts, notice(failing(10_500))] }],
  ['a long outage was reported', { ...OUTAGE, posts: [...OUTAGE.posts, notice(failing(10_400))] }],
  [
    'the reported outage began earlier and nothing was acknowledged since',
    { ...OUTAGE, posts: [...OUTAGE.posts, notice(failing(5_000))] },
  ],
  ['a short outage was not reported', { ...OUTAGE, outages: [{ endpoint: 'healthy', fromMs: 10_000, toMs: 15_000 }] }],
  ['a fault struck during the outage', { ...OUTAGE, disturbances: [{ fromMs: 12_000, toMs: 13_000 }] }],
  ['no subscription asks for notices', { ...OUTAGE, endpoints: [HEALTHY], posts: [post()] }],
])('finds no problem if %s', (_name, more) => {
  expect(reconcile(observed(more)).problems).toEqual([])
})

const UNREPORTED: Problem = {
  kind: 'outage not reported',
  what: 'healthy, down for 7000 ms from 1970-01-01T00:00:10.000Z',
}

test.each<[string, Partial<Observation>, Problem]>([
  [
    'a parked delivery has no notice',
    { posts: [post()] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops (0 POSTs)' },
  ],
  [
    'the first run has a notice but the second has not',
    { parked: [{ endpoint: 'healthy', deliveryId: 'd1', run: 2, reason: 'rejected' }] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 2 at ops (0 POSTs)' },
  ],
  [
    'a delivery was parked and sent again without a notice',
    { posts: [post(), acknowledged], parked: [], recoveries: [recovery] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops (0 POSTs)' },
  ],
  [
    'only one of two ops subscriptions got the notice',
    { endpoints: [HEALTHY, OPS, OPS_TOO] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops too (0 POSTs)' },
  ],
  [
    'the notice was never acknowledged',
    { posts: [post(), notice(PARKED, { status: 503 })] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops (1 POSTs)' },
  ],
  [
    'a notice arrived with two delivery ids',
    { posts: [post(), notice(PARKED), notice(PARKED, { deliveryId: 'another' })] },
    {
      kind: 'two deliveries of one event',
      what: 'notice webhook.delivery.parked d1 1 at ops, of 1970-01-01T00:00:00.900Z',
    },
  ],
  [
    'a notice arrived with two bodies',
    { posts: [post(), notice(PARKED), notice(PARKED, { digest: 'y' })] },
    {
      kind: 'body changed',
      what: 'of parked 1 at ops, attempt 1, at 00:00:01.000 of 00:00:00.900, at 00:00:01.000 of 00:00:00.900',
    },
  ],
  [
    'a parked notice is about a delivery that was never rejected',
    { posts: [post({ status: 204 }), notice(PARKED)], parked: [] },
    { kind: 'parked notice without a rejection', what: 'notice webhook.delivery.parked d1 1' },
  ],
  [
    'a parked notice is about a notice',
    { posts: [post(), notice(PARKED), notice({ ...PARKED, deliveryId: 'd2', ofType: 'webhook.delivery.parked' })] },
    { kind: 'notice of a notice', what: 'notice webhook.delivery.parked d2 1' },
  ],
  [
    'a failing notice is about an ops endpoint',
    { posts: [post(), notice(PARKED), notice({ ...failing(0), subscriptionId: 's-ops' })] },
    { kind: 'notice of a notice', what: 'notice webhook.endpoint.failing s-ops 1970-01-01T00:00:00.000Z' },
  ],
  [
    'the end of an outage was reported but not the outage',
    { posts: [post(), notice(PARKED), notice(recovered(0))] },
    { kind: 'missing', what: 'notice webhook.endpoint.failing s1 1970-01-01T00:00:00.000Z at ops (0 POSTs)' },
  ],
  ['a long outage was not reported', OUTAGE, UNREPORTED],
  [
    'the reported outage is an earlier one that had ended',
    {
      ...OUTAGE,
      posts: [...OUTAGE.posts, notice(failing(5_000)), post({ deliveryId: 'd3', atMs: 8_000, status: 204 })],
    },
    UNREPORTED,
  ],
  ['the reported outage is a later one', { ...OUTAGE, posts: [...OUTAGE.posts, notice(failing(20_000))] }, UNREPORTED],
  [
    'a long outage was not reported although the fault was over',
    { ...OUTAGE, disturbances: [{ fromMs: 9_000, toMs: 10_500 }] },
    UNREPORTED,
  ],
])('reports that %s', (_name, more, problem) => {
  expect(reconcile(observed(more)).problems).toContainEqual(problem)
})

test('counts each notice once, regardless of repeats and receivers', () => {
  const posts = [post(), notice(PARKED), notice(PARKED), notice(PARKED, { endpoint: 'ops too', deliveryId: 'x' })]
  const { problems, notices } = reconcile(observed({ endpoints: [HEALTHY, OPS, OPS_TOO], posts, publishes: TWICE }))
  expect({ problems, notices }).toEqual({ problems: [], notices: { parked: 1, failing: 0, recovered: 0 } })
})

test('accepts and counts a parked notice that is repeated with other attempts after a rollback of Redis', () => {
  // The first notice arrives long after the rollback that lost its record.
  const lost = notice(PARKED, { occurredAtMs: 11_000, atMs: 60_000 })
  const posts = [post({ status: 410 }), lost, notice(PARKED, { occurredAtMs: 15_000, atMs: 61_000, digest: 'y' })]
  const lapses = [{ kind: 'rolled back', fromMs: 10_000, toMs: 12_000 }] as const
  const { problems, changedNotices } = reconcile(observed({ posts, lapses }))
  expect({ problems: problems.filter(({ kind }) => kind === 'body changed'), changedNotices }).toEqual({
    problems: [],
    changedNotices: 1,
  })
  expect(reconcile(observed({ posts, lapses: [] })).problems).toContainEqual(
    expect.objectContaining({ kind: 'body changed' }),
  )
})
