import type { Notice, Observation, Post } from './observation.ts'
import { type Problem, reconcile } from './reconcile.ts'

const TYPES = ['webhook.endpoint.failing', 'webhook.endpoint.recovered', 'webhook.delivery.parked']
const WELL = { name: 'well', subscriptionId: 's1', eventTypes: ['call.status'] }
const OPS = { name: 'ops', subscriptionId: 's-ops', eventTypes: TYPES }
const OPS_TOO = { name: 'ops too', subscriptionId: 's-ops-too', eventTypes: TYPES }

const post = (more: Partial<Post> = {}): Post => ({
  endpoint: 'well',
  deliveryId: 'd1',
  attempt: 1,
  told: { kind: 'own', eventId: 'e1' },
  digest: 'x',
  lasting: '',
  flaws: [],
  beganAtMs: 1_000,
  atMs: 1_000,
  occurredAtMs: 900,
  status: 400,
  ...more,
})

const PARKED: Notice = { kind: 'parked', subscriptionId: 's1', deliveryId: 'd1', run: 1, ofType: 'call.status' }
const since = (ms: number): string => new Date(ms).toISOString()
const failing = (ms: number): Notice => ({ kind: 'failing', subscriptionId: 's1', since: since(ms) })
const recovered = (ms: number): Notice => ({ kind: 'recovered', subscriptionId: 's1', since: since(ms) })

const notice = (told: Notice, more: Partial<Post> = {}): Post =>
  post({
    endpoint: 'ops',
    deliveryId: `of ${told.kind} ${told.kind === 'parked' ? told.run : told.since}`,
    told,
    status: 204,
    ...more,
  })

const parked = [{ endpoint: 'well', deliveryId: 'd1', run: 1, reason: 'rejected' }]

/** One delivery was rejected, is parked, and was told of. */
const observed = (more: Partial<Observation> = {}): Observation => ({
  endpoints: [WELL, OPS],
  confirmed: ['e1'],
  calls: [],
  posts: [post(), notice(PARKED)],
  parked,
  guests: [],
  closures: [],
  lapses: [],
  recoveries: [],
  disturbances: [],
  absences: [],
  left: {},
  notReady: [],
  ...more,
})

const recovery = {
  endpoint: 'well',
  begunAtMs: 1_000,
  state: 'done',
  skipped: 0,
  failed: 0,
  found: 1,
  sent: 1,
  deliveries: [{ deliveryId: 'd1', state: 'acknowledged', run: 2, parkedRun: 1 }],
}
const acknowledged = post({ attempt: 2, status: 204 })
const absences = [{ endpoint: 'well', fromMs: 10_000, toMs: 17_000 }]
const AWAY = { posts: [post(), notice(PARKED)], absences }

test.each<[string, Partial<Observation>]>([
  ['what is parked was told', {}],
  ['it was told twice, as the same delivery', { posts: [post(), notice(PARKED), notice(PARKED)] }],
  [
    'what was parked was told, and then sent again',
    { posts: [post(), notice(PARKED), acknowledged], parked: [], recoveries: [recovery] },
  ],
  [
    'what another worker delivered in the same moment was told',
    { posts: [post(), notice(PARKED), acknowledged], parked: [] },
  ],
  [
    'an ops endpoint rejects its notice, of which nobody is told',
    {
      posts: [post(), notice(PARKED, { status: 400 })],
      parked: [...parked, { endpoint: 'ops', deliveryId: 'of parked 1', run: 1, reason: 'rejected' }],
    },
  ],
  ['an outage was told, and its end', { posts: [...AWAY.posts, notice(failing(10_500)), notice(recovered(10_500))] }],
  ['the end of an outage was not told', { posts: [...AWAY.posts, notice(failing(10_500))] }],
  ['an endpoint was away for long, and it was told', { ...AWAY, posts: [...AWAY.posts, notice(failing(10_400))] }],
  [
    'it had failed before, and had acknowledged nothing since',
    { ...AWAY, posts: [...AWAY.posts, notice(failing(5_000))] },
  ],
  ['it was away for a moment', { ...AWAY, absences: [{ endpoint: 'well', fromMs: 10_000, toMs: 15_000 }] }],
  ['a fault lay in it', { ...AWAY, disturbances: [{ fromMs: 12_000, toMs: 13_000 }] }],
  ['nobody wants to know', { ...AWAY, endpoints: [WELL], posts: [post()] }],
])('nothing is wrong if %s', (_name, more) => {
  expect(reconcile(observed(more)).problems).toEqual([])
})

const UNTOLD: Problem = { kind: 'failing, and not told', what: 'well, away for 7000 ms from 1970-01-01T00:00:10.000Z' }

test.each<[string, Partial<Observation>, Problem]>([
  [
    'what is parked was not told',
    { posts: [post()] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops (0 POSTs)' },
  ],
  [
    'its first run was told, the second not',
    { parked: [{ endpoint: 'well', deliveryId: 'd1', run: 2, reason: 'rejected' }] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 2 at ops (0 POSTs)' },
  ],
  [
    'what was parked was sent again, and not told',
    { posts: [post(), acknowledged], parked: [], recoveries: [recovery] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops (0 POSTs)' },
  ],
  [
    'it was told to one of two',
    { endpoints: [WELL, OPS, OPS_TOO] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops too (0 POSTs)' },
  ],
  [
    'the notice was never acknowledged',
    { posts: [post(), notice(PARKED, { status: 503 })] },
    { kind: 'missing', what: 'notice webhook.delivery.parked d1 1 at ops (1 POSTs)' },
  ],
  [
    'it was told twice, with two ids',
    { posts: [post(), notice(PARKED), notice(PARKED, { deliveryId: 'another' })] },
    { kind: 'two deliveries of one event', what: 'notice webhook.delivery.parked d1 1 at ops' },
  ],
  [
    'it was told twice, differently',
    { posts: [post(), notice(PARKED), notice(PARKED, { digest: 'y' })] },
    { kind: 'body changed', what: 'of parked 1 at ops, attempt 1' },
  ],
  [
    'one was told as parked that nobody rejected',
    { posts: [post({ status: 204 }), notice(PARKED)], parked: [] },
    { kind: 'told as parked, never rejected', what: 'notice webhook.delivery.parked d1 1' },
  ],
  [
    'a parked notice was told of',
    { posts: [post(), notice(PARKED), notice({ ...PARKED, deliveryId: 'd2', ofType: 'webhook.delivery.parked' })] },
    { kind: 'notice of a notice', what: 'notice webhook.delivery.parked d2 1' },
  ],
  [
    'an ops endpoint was told to be failing',
    { posts: [post(), notice(PARKED), notice({ ...failing(0), subscriptionId: 's-ops' })] },
    { kind: 'notice of a notice', what: 'notice webhook.endpoint.failing s-ops 1970-01-01T00:00:00.000Z' },
  ],
  [
    'the end of an outage was told, and the outage not',
    { posts: [post(), notice(PARKED), notice(recovered(0))] },
    { kind: 'missing', what: 'notice webhook.endpoint.failing s1 1970-01-01T00:00:00.000Z at ops (0 POSTs)' },
  ],
  ['an endpoint was away for long, untold', AWAY, UNTOLD],
  [
    'what was told was another outage, which had ended',
    { ...AWAY, posts: [...AWAY.posts, notice(failing(5_000)), post({ deliveryId: 'd3', atMs: 8_000, status: 204 })] },
    UNTOLD,
  ],
  ['what was told was a later outage', { ...AWAY, posts: [...AWAY.posts, notice(failing(20_000))] }, UNTOLD],
  [
    'an endpoint was away for long beside a fault, untold',
    { ...AWAY, disturbances: [{ fromMs: 9_000, toMs: 10_500 }] },
    UNTOLD,
  ],
])('it is told that %s', (_name, more, problem) => {
  expect(reconcile(observed(more)).problems).toContainEqual(problem)
})

test('a notice is counted once, however often and to however many it was told', () => {
  const posts = [post(), notice(PARKED), notice(PARKED), notice(PARKED, { endpoint: 'ops too', deliveryId: 'x' })]
  const { problems, notices } = reconcile(observed({ endpoints: [WELL, OPS, OPS_TOO], posts: [...posts] }))
  expect({ problems, notices }).toEqual({ problems: [], notices: { parked: 1, failing: 0, recovered: 0 } })
})

test('a parked notice may be repeated with other attempts after a rollback of Redis, and is counted', () => {
  const posts = [post({ status: 410 }), notice(PARKED, { atMs: 9_000 }), notice(PARKED, { atMs: 15_000, digest: 'y' })]
  const lapses = [{ kind: 'rolled back', fromMs: 10_000, toMs: 12_000 }] as const
  const { problems, retold } = reconcile(observed({ posts, lapses }))
  expect({ problems: problems.filter(({ kind }) => kind === 'body changed'), retold }).toEqual({
    problems: [],
    retold: 1,
  })
  expect(reconcile(observed({ posts, lapses: [] })).problems).toContainEqual(
    expect.objectContaining({ kind: 'body changed' }),
  )
})
