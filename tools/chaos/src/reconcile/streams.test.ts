import { CallState } from '@switchhook/contracts'
import type { Lapse, Observation, Post } from './observation.ts'
import { reconcile } from './reconcile.ts'
import { AGENT, observed, post } from './testing/sample-observation.ts'

const leg = (sequence: number, occurredAtMs: number, more: Partial<Post> & { readonly isEnd?: boolean } = {}): Post => {
  const { isEnd = false, ...rest } = more
  return post({
    deliveryId: `leg ${sequence} ${occurredAtMs}`,
    content: { kind: 'leg', callId: 'c1', agentUri: AGENT, sequence, state: isEnd ? 7 : 2 },
    occurredAtMs,
    ...rest,
  })
}

const ROLLED_BACK: Lapse = { kind: 'rolled back', fromMs: 10_000, toMs: 12_000 }

const kindsOf = (more: Partial<Observation>): readonly string[] =>
  reconcile(observed({ lapses: [ROLLED_BACK], ...more })).problems.map(({ kind }) => kind)

/** 1 was committed before the copy, 2 was lost with the writes after it, and then its number was used again. */
const REPEATED = [leg(1, 5_000), leg(2, 11_000), leg(2, 13_000), leg(3, 14_000, { isEnd: true })]

test('accepts that a number is used again after Redis lost its event, and expects both events everywhere', () => {
  const { problems, repeated } = reconcile(observed({ lapses: [ROLLED_BACK], posts: [post(), ...REPEATED] }))
  expect({ problems, repeated }).toEqual({ problems: [], repeated: 1 })
  const endpoints = [...observed().endpoints, { name: 'other', subscriptionId: 's2', eventTypes: ['call.status'] }]
  const other = [post(), ...REPEATED]
    .filter(({ occurredAtMs }) => occurredAtMs !== 13_000)
    .map((one) => ({ ...one, endpoint: 'other', deliveryId: `other ${one.deliveryId}` }))
  expect(
    reconcile(observed({ endpoints, lapses: [ROLLED_BACK], posts: [post(), ...REPEATED, ...other] })).problems,
  ).toEqual([{ kind: 'missing', what: `leg c1 ${AGENT} 2 of 1970-01-01T00:00:13.000Z at other (0 POSTs)` }])
})

const twice = (occurredAtMs: number): Post[] => [
  leg(1, 5_000),
  leg(2, occurredAtMs, { deliveryId: 'first' }),
  leg(2, occurredAtMs, { deliveryId: 'second' }),
  leg(3, 14_000, { isEnd: true }),
]

test('accepts and counts an event that is recorded again under another id after Redis lost it', () => {
  const { problems, recordedAgain } = reconcile(observed({ lapses: [ROLLED_BACK], posts: [post(), ...twice(11_000)] }))
  expect({ problems, recordedAgain }).toEqual({ problems: [], recordedAgain: 1 })
  expect(kindsOf({ posts: [post(), ...twice(6_000)] })).toEqual(['two deliveries of one event'])
})

/** A probe found a dial of long before, which the platform had not reported: one write has its beginning and its end. */
const probedDial = (endAtMs: number, state: number = CallState.initiated): Post[] => [
  leg(1, 1_000, {
    deliveryId: `beginning, with the end at ${endAtMs}`,
    content: { kind: 'leg', callId: 'c1', agentUri: AGENT, sequence: 1, state },
  }),
  leg(2, endAtMs, { isEnd: true }),
]

test('accepts the beginning of a dial of long before that is recorded again, with the next event whose write Redis lost', () => {
  const posts = [post(), ...probedDial(11_000), ...probedDial(13_500)]
  const { problems, recordedAgain } = reconcile(observed({ lapses: [ROLLED_BACK], posts }))
  expect({ problems, recordedAgain }).toEqual({ problems: [], recordedAgain: 1 })
})

test.each<[string, Post[]]>([
  ['its next event was recorded once', [...probedDial(11_000), ...probedDial(13_500).slice(0, 1)]],
  ['it is no dial', [...probedDial(11_000, CallState.alerting), ...probedDial(13_500, CallState.alerting)]],
  ['the write of its next event was not lost', [...probedDial(3_000), ...probedDial(5_000)]],
])('reports the beginning of a leg of long before that was recorded twice if %s', (_name, posts) => {
  expect(kindsOf({ posts: [post(), ...posts] })).toContain('two deliveries of one event')
})

test('reports a new event that reuses the id of a lost one, because the body of its delivery changes', () => {
  const same = REPEATED.map((one) => ({
    ...one,
    deliveryId: one.deliveryId.slice(0, 'leg 2'.length),
    digest: String(one.occurredAtMs),
  }))
  expect(kindsOf({ posts: [post(), ...same] })).toContain('body changed')
})

test.each<[string, Partial<Observation>]>([
  ['a call that began in it was never reported', { calls: [{ callId: 'c1', agentUri: AGENT, atMs: 11_000 }] }],
  ['a call that began in the lapse has no end', { posts: [post(), leg(1, 11_000)] }],
  ['events of a call that began in the lapse are missing', { posts: [post(), leg(3, 11_500, { isEnd: true })] }],
])('writes were lost: no problem if %s', (_name, more) => {
  expect(kindsOf(more)).toEqual([])
})

test.each<[string, Partial<Observation>, string]>([
  [
    'a call that began before was never reported',
    { calls: [{ callId: 'c1', agentUri: AGENT, atMs: 8_000 }] },
    'missing',
  ],
  ['a call that began before the lapse has no end', { posts: [post(), leg(1, 5_000), leg(2, 11_000)] }, 'no end'],
  [
    'an event after it is missing',
    { posts: [post(), leg(1, 5_000), leg(2, 11_000), leg(4, 15_000, { isEnd: true })] },
    'gap',
  ],
  [
    'a number was used twice at another time',
    { posts: [post(), leg(1, 5_000), leg(1, 6_000), leg(2, 7_000, { isEnd: true })] },
    'sequence number used twice',
  ],
  [
    'a later number has the same time',
    { posts: [post(), leg(1, 5_000), leg(2, 5_000), leg(3, 7_000, { isEnd: true })] },
    'time goes back',
  ],
  [
    'a later number has an earlier time',
    { posts: [post(), leg(1, 5_000), leg(2, 4_999), leg(3, 7_000, { isEnd: true })] },
    'time goes back',
  ],
])('writes were lost: still a problem if %s', (_name, more, kind) => {
  expect(kindsOf(more)).toContain(kind)
})

const rejected = post({ status: 400, atMs: 11_000 })

test('accepts the loss of a parked record after a rollback of Redis, but not after an empty Redis', () => {
  expect(reconcile(observed({ lapses: [ROLLED_BACK], posts: [rejected] }))).toMatchObject({
    problems: [],
    forgotten: 1,
  })
  expect(kindsOf({ posts: [rejected], lapses: [{ ...ROLLED_BACK, kind: 'empty' }] })).toEqual([
    'missing',
    'rejected, not parked',
  ])
  expect(kindsOf({ posts: [{ ...rejected, atMs: 20_000 }] })).toEqual(['missing', 'rejected, not parked'])
})
