import type { Closure, Post } from './observation.ts'
import { reconcile } from './reconcile.ts'
import { observed, post } from './testing/sample-observation.ts'

const DELETED: Closure = {
  endpoint: 'guest 1',
  eventTypes: ['call.status', 'agent.status'],
  fromMs: 2_000,
  toMs: Number.POSITIVE_INFINITY,
}
const DISABLED: Closure = { ...DELETED, toMs: 3_000 }
const NO_CALLS: Closure = { ...DISABLED, eventTypes: ['call.status'] }

const late = (more: Partial<Post> = {}): Post =>
  post({ endpoint: 'guest 1', deliveryId: 'g1', beganAtMs: 2_000.4, ...more })
const agentStatus: Post['content'] = { kind: 'agent', agentUri: 'sip:a@acme.example', sequence: 1, state: 2 }

const problemsOf = (
  closure: Closure,
  ...posts: Post[]
): readonly { readonly kind: string; readonly what: string }[] => {
  const well = posts.map((one, n) => post({ content: one.content, deliveryId: `well ${n}` }))
  return reconcile(
    observed({
      guests: ['guest 1'],
      publishes: new Map([['e1', 2]]),
      closures: [closure],
      posts: [post(), ...well, ...posts],
    }),
  ).problems.filter(({ kind }) => kind !== 'two deliveries of one event')
}

test.each<[string, Closure, Post[]]>([
  ['after a DELETE', DELETED, [late()]],
  ['long after a DELETE', DELETED, [late({ beganAtMs: 900_000 })]],
  ['while the subscription is disabled', DISABLED, [late()]],
  ['of a type that was removed', NO_CALLS, [late()]],
  ['twice: only the first attempt is reported', DELETED, [late(), late({ beganAtMs: 2_500 })]],
])('a first attempt %s is a problem', (_name, closure, posts) => {
  const lateMs = ((posts[0]?.beganAtMs ?? 0) - 2_000).toFixed(1)
  expect(problemsOf(closure, ...posts)).toEqual([
    { kind: 'first attempt after the answer', what: `g1 at guest 1, ${lateMs} ms after it` },
  ])
})

test.each<[string, Closure, Post[]]>([
  ['that began to arrive before the answer', DELETED, [late({ beganAtMs: 1_999.9, atMs: 2_100 })]],
  ['after the subscription was enabled again', DISABLED, [late({ beganAtMs: 3_000 })]],
  ['at another endpoint', DELETED, [late({ endpoint: 'guest 2' })]],
  ['of a type that stayed', NO_CALLS, [late({ content: agentStatus })]],
  ['that is repeated because it had failed before', DELETED, [late({ beganAtMs: 1_000, status: 503 }), late()]],
  ['that is a retry', DELETED, [late({ attempt: 2 })]],
])('a POST %s is no problem', (_name, closure, posts) => {
  expect(problemsOf(closure, ...posts)).toEqual([])
})

test('reports a retry that is never acknowledged, also at a guest', () => {
  const retry = late({ attempt: 2, status: 503 })
  expect(problemsOf(DELETED, retry)).toEqual([{ kind: 'retry given up', what: 'g1 at guest 1' }])
  expect(problemsOf(DELETED, retry, late({ attempt: 3 }))).toEqual([])
})

test('accepts that a failed first attempt is the last one: its worker may have died before it stored the failure', () => {
  expect(problemsOf(DELETED, late({ beganAtMs: 1_000, status: 503 }))).toEqual([])
})
