import { type Observation, type Post, UNDISTURBED } from '../observation.ts'

export const AGENT = 'sip:a@acme.example'

export const post = (more: Partial<Post> = {}): Post => ({
  endpoint: 'healthy',
  deliveryId: 'd1',
  eventId: 'e1',
  attempt: 1,
  content: { kind: 'platform', eventId: 'e1' },
  digest: 'x',
  lasting: 'x-svc-event: call.status',
  flaws: [],
  beganAtMs: 1_000,
  atMs: 1_000,
  occurredAtMs: 900,
  status: 204,
  ...more,
})

/** One confirmed event that was delivered. */
export const observed = (more: Partial<Observation> = {}): Observation => ({
  ...UNDISTURBED,
  endpoints: [{ name: 'healthy', subscriptionId: 's1', eventTypes: ['call.status', 'agent.status'] }],
  guests: [],
  closures: [],
  confirmed: ['e1'],
  publishes: new Map([['e1', 1]]),
  calls: [],
  posts: [post()],
  parked: [],
  expired: [],
  outages: [],
  left: { 'delivery.due': 0 },
  notReady: [],
  ...more,
})
