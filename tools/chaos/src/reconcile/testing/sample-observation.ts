import type { Observation, Post } from '../observation.ts'

export const AGENT = 'sip:a@acme.example'

export const post = (more: Partial<Post> = {}): Post => ({
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
  status: 204,
  ...more,
})

/** One confirmed event, delivered. */
export const observed = (more: Partial<Observation> = {}): Observation => ({
  endpoints: [{ name: 'well', subscriptionId: 's1', eventTypes: ['call.status', 'agent.status'] }],
  guests: [],
  closures: [],
  confirmed: ['e1'],
  calls: [],
  posts: [post()],
  parked: [],
  recoveries: [],
  disturbances: [],
  lapses: [],
  absences: [],
  left: { 'delivery.due': 0 },
  notReady: [],
  ...more,
})
