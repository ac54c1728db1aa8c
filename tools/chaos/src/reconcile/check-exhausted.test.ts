import type { Notice, Observation, Post } from './observation.ts'
import { reconcile } from './reconcile.ts'
import { observed, post } from './testing/sample-observation.ts'

const DEAD = { name: 'down for long', subscriptionId: 's-dead', eventTypes: ['agent.status'] }
const OPS = {
  name: 'ops',
  subscriptionId: 's-ops',
  eventTypes: ['webhook.delivery.parked', 'webhook.endpoint.failing'],
}
const content: Post['content'] = { kind: 'agent', agentUri: 'sip:a@acme.example', sequence: 1, state: 2 }
const PARKED: Notice = {
  kind: 'parked',
  subscriptionId: 's-dead',
  deliveryId: 'd2',
  reason: 1,
  run: 1,
  eventId: 'e2',
  ofType: 'agent.status',
}
const FAILING: Notice = { kind: 'failing', subscriptionId: 's-dead', since: new Date(10_500).toISOString() }

const well = [post(), post({ content, deliveryId: 'well agent' })]
const notices = [
  post({ endpoint: 'ops', deliveryId: 'n1', content: PARKED, occurredAtMs: 60_000 }),
  post({ endpoint: 'ops', deliveryId: 'n2', content: FAILING }),
]
const arrived = post({ endpoint: DEAD.name, deliveryId: 'd2', content })
const recovery = {
  endpoint: DEAD.name,
  begunAtMs: 80_000,
  state: 'done',
  found: 1,
  sent: 1,
  skipped: 0,
  failed: 0,
  deliveries: [{ deliveryId: 'd2', state: 'acknowledged', run: 2, parkedRun: 1 }],
}

/** An endpoint was down for a whole schedule; one delivery was parked and sent again. */
const exhausted = (more: Partial<Observation> = {}): Observation =>
  observed({
    endpoints: [...observed().endpoints, DEAD, OPS],
    posts: [...well, ...notices, arrived],
    outages: [{ endpoint: DEAD.name, fromMs: 10_000, toMs: 70_000 }],
    recoveries: [recovery],
    ...more,
  })

const kindsOf = (observation: Observation): readonly string[] => reconcile(observation).problems.map(({ kind }) => kind)

test('accepts and counts an exhausted delivery that was sent again', () => {
  expect(reconcile(exhausted())).toMatchObject({ problems: [], exhausted: 1, forgotten: 0 })
})

test('reports an exhausted delivery that is still parked as missing, not as wrongly parked', () => {
  const parked = [{ endpoint: DEAD.name, deliveryId: 'd2', run: 1, reason: 'exhausted' }]
  expect(kindsOf(exhausted({ parked, posts: [...well, ...notices] }))).toEqual(['missing'])
})

test('reports an exhausted delivery if the endpoint was down for less than the schedule', () => {
  const outages = [{ endpoint: DEAD.name, fromMs: 10_000, toMs: 20_000 }]
  const parked = [{ endpoint: DEAD.name, deliveryId: 'd2', run: 1, reason: 'exhausted' }]
  expect(kindsOf(exhausted({ outages, parked }))).toEqual(
    expect.arrayContaining(['wrongly parked', 'parked notice without a rejection']),
  )
})

test('reports that nothing was exhausted if the endpoint was down for longer than the schedule', () => {
  expect(kindsOf(exhausted({ recoveries: [], posts: [...well, notices[1] ?? post(), arrived] }))).toEqual([
    'nothing was exhausted',
  ])
})

test('counts a parked record that Redis lost in a rollback, by its notice', () => {
  const lost = { posts: [...well, ...notices] }
  const lapse = { kind: 'rolled back', fromMs: 59_500, toMs: 61_000 } as const
  expect(
    reconcile(exhausted({ ...lost, lapses: [lapse], recoveries: [{ ...recovery, deliveries: [] }] })),
  ).toMatchObject({
    problems: [],
    forgotten: 1,
  })
  expect(kindsOf(exhausted({ ...lost, lapses: [{ ...lapse, kind: 'empty' }] }))).toContain('missing')
  expect(kindsOf(exhausted(lost))).toContain('missing')
})
