import { ParkedReasonNumber } from '@switchhook/contracts'
import type { Observation, Post, ReceiverSeen, Shown } from './observation.ts'
import type { Problem } from './problem.ts'
import { reconcile } from './reconcile.ts'
import { AGENT, observed, post } from './testing/sample-observation.ts'

const leg: Shown = { subject: `c1 ${AGENT}`, state: 3, sequence: 2, occurredAtMs: 50_000, isCall: true }
const agent: Shown = { subject: AGENT, state: 2, sequence: 4, occurredAtMs: 50_000, isCall: false }
const unused: Shown = { subject: 'sip:b@acme.example', state: 0, sequence: 0, occurredAtMs: 0, isCall: false }

/** A receiver that has applied the one event. */
const seen = (more: Partial<ReceiverSeen> = {}): ReceiverSeen => ({
  name: 'sqlite',
  subscriptionIds: ['r1', 'r2'],
  rejected: [],
  each: ['e1'],
  latest: ['e1'],
  view: [leg, agent],
  api: [leg, agent, unused],
  ...more,
})

const problemsOf = (receiver: Partial<ReceiverSeen>, more: Partial<Observation> = {}): readonly Problem[] =>
  reconcile(observed({ receivers: [seen(receiver)], ...more })).problems

const LAPSES: Observation['lapses'] = [{ kind: 'rolled back', fromMs: 49_000, toMs: 51_000 }]
const newer: Shown = { ...agent, sequence: 5, occurredAtMs: 60_000 }
const parkedNotice = (
  occurredAtMs: number,
  subscriptionId = 'r1',
  reason: number = ParkedReasonNumber.exhausted,
): Post =>
  post({
    endpoint: 'ops',
    deliveryId: 'n1',
    eventId: 'e9',
    content: { kind: 'parked', subscriptionId, deliveryId: 'd9', run: 1, reason, eventId: 'e1', ofType: 'call.status' },
    occurredAtMs,
  })

test.each<[string, Partial<ReceiverSeen>, Partial<Observation>]>([
  ['applied each event once', {}, {}],
  ['skipped an event that was older', { latest: [] }, {}],
  ['shows a leg as ended that the API lists no longer', { view: [{ ...leg, state: 7 }, agent], api: [agent] }, {}],
  ['shows a live leg of a call that Redis lost', { api: [agent, unused] }, { lapses: LAPSES }],
  ['shows a state that Redis lost', { api: [leg, { ...agent, sequence: 3 }] }, { lapses: LAPSES }],
  [
    'shows the end of a leg that Redis lost, while the API has a newer state of it',
    { view: [{ ...leg, state: 7 }, agent], api: [{ ...leg, sequence: 4, occurredAtMs: 60_000 }, agent] },
    { lapses: LAPSES },
  ],
  [
    'was away for a whole schedule, and Redis lost the parked record',
    { each: [] },
    { lapses: LAPSES, posts: [post(), parkedNotice(50_000)] },
  ],
])('finds no problem if a receiver %s', (_name, receiver, more) => {
  expect(problemsOf(receiver, more)).toEqual([])
})

const LEG_SHOWN = 'state 3, sequence 2 of 1970-01-01T00:00:50.000Z'
const agentDiffers = (state: number, sequence: number): string => {
  const at = 'of 1970-01-01T00:00:50.000Z'
  return `${AGENT} (state ${state}, sequence ${sequence} ${at}; in the API state 2, sequence 4 ${at})`
}
/** Excuses none of these. */
const LATER: Observation['lapses'] = [{ kind: 'rolled back', fromMs: 52_000, toMs: 54_000 }]

test.each<[string, Partial<ReceiverSeen>, Problem['kind'], string]>([
  ['an event that was not applied', { each: [] }, 'effect missing', 'e1'],
  ['an event that was applied twice', { each: ['e1', 'e1'] }, 'effect repeated', 'e1'],
  ['a latest event that was applied twice', { latest: ['e1', 'e1'] }, 'effect repeated', 'e1'],
  ['an older state', { view: [leg, { ...agent, sequence: 3 }] }, 'view differs', agentDiffers(2, 3)],
  ['another state of the same number', { view: [leg, { ...agent, state: 4 }] }, 'view differs', agentDiffers(4, 4)],
  ['a leg that is not shown', { view: [agent] }, 'view differs', `${leg.subject} (missing; in the API ${LEG_SHOWN})`],
  [
    'a live leg that the API does not list',
    { api: [agent] },
    'view differs',
    `${leg.subject} (${LEG_SHOWN}; in the API missing)`,
  ],
  ['a delivery that was rejected', { rejected: ['d9'] }, 'rejected by a receiver', 'd9'],
])('reports %s', (_name, receiver, kind, what) => {
  expect(problemsOf(receiver, { lapses: LATER })).toEqual([{ kind, what: `${what} at the receiver with sqlite` }])
})

test('a rollback excuses what it can have lost, and nothing else', () => {
  const lapses = LAPSES
  expect(problemsOf({ api: [leg, newer] }, { lapses })).toMatchObject([{ kind: 'view differs' }])
  expect(problemsOf({ view: [agent] }, { lapses })).toMatchObject([{ kind: 'view differs' }])
  for (const notice of [
    parkedNotice(60_000),
    parkedNotice(50_000, 'r2'),
    parkedNotice(50_000, 'r1', ParkedReasonNumber.rejected),
  ]) {
    expect(problemsOf({ each: [] }, { lapses, posts: [post(), notice] })).toMatchObject([{ kind: 'effect missing' }])
  }
})

test('the deliveries of a receiver that is away may be parked, its notices repeated, and its effects are counted', () => {
  const endpoints = [
    ...observed().endpoints,
    { name: 'ops', subscriptionId: 's9', eventTypes: ['webhook.delivery.parked'] },
  ]
  const notice = parkedNotice(900)
  const posts = [post(), notice, notice]
  const receivers = [seen(), seen({ name: 'postgres' })]
  expect(reconcile(observed({ endpoints, posts, receivers }))).toMatchObject({ problems: [], applied: 2 })
  expect(reconcile(observed({ endpoints, posts })).problems).toHaveLength(2)
})
