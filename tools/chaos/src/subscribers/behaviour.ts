import { crc32 } from 'node:zlib'
import { CallState, type SubscriptionFilter } from '@switchhook/contracts'
import type { Endpoint, Post } from '../reconcile/observation.ts'

export interface Behaviour extends Omit<Endpoint, 'subscriptionId'> {
  readonly filter?: SubscriptionFilter
  /** Of its subscription: each attempt has them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Now and then the endpoint closes its port for some seconds. */
  readonly isSometimesDown?: true
  /** Rejects everything until `repair()`. */
  readonly isBrokenAtFirst?: true
  /** How it answers, and when. By default it answers 204 immediately. */
  readonly react?: (seed: number, post: Pick<Post, 'deliveryId' | 'attempt'>) => typeof HEALTHY
}

/** It acknowledges everything immediately. */
export const HEALTHY_ENDPOINT = 'healthy'
/** A recovery sends this endpoint's parked deliveries again. */
export const BROKEN_AT_FIRST = 'broken at first'
/** The fault `exhaust` takes this endpoint down; a recovery then sends its exhausted deliveries again. */
export const DOWN_FOR_LONG = 'down for long'
/** The fault `pause` pauses and resumes the subscription of this endpoint. */
export const PAUSED_AT_TIMES = 'paused at times'
/** The faults `patch` and `delete` change this endpoint's subscription. Meanwhile no event has to reach it. */
export const GUEST = 'guest'

const BOTH = ['call.status', 'agent.status']
export const HEALTHY = { status: 204, delayMs: 0 }
const HEADERS = { 'x-region': 'eu-central', authorization: 'Basic c3dpdGNoaG9vazpj' }
const NOTICES = ['webhook.endpoint.failing', 'webhook.endpoint.recovered', 'webhook.delivery.parked']
/** The last attempt that may fail. Later slots succeed, so these failures never exhaust a delivery. */
export const LAST_FAILURE = 3

/** From 0 to below 1. Depends on the seed and the name only, not on the order of calls. */
export const chance = (seed: number, name: string): number => crc32(`${seed} ${name}`) / 2 ** 32

const failsSometimes: NonNullable<Behaviour['react']> = (seed, { deliveryId, attempt }) =>
  attempt <= LAST_FAILURE && chance(seed, `${deliveryId} ${attempt}`) < 0.15 ? { ...HEALTHY, status: 503 } : HEALTHY

/** Its retries fall due after the subscription was deleted, and must still arrive. */
export const GUEST_BEHAVIOUR: Behaviour = { name: GUEST, eventTypes: BOTH, react: failsSometimes }

/** Changes of a subscription by field, what undoes each, and the event types of which it stops first attempts. */
export const CHANGES = {
  enabled: { change: { enabled: false }, undo: { enabled: true }, stops: BOTH },
  eventTypes: { change: { eventTypes: ['agent.status'] }, undo: { eventTypes: BOTH }, stops: ['call.status'] },
  paused: { change: { paused: true }, undo: { paused: false }, stops: BOTH },
}
export type Change = (typeof CHANGES)[keyof typeof CHANGES]

/** The endpoints whose subscriptions last for the whole run. */
export const BEHAVIOURS: readonly Behaviour[] = [
  { name: HEALTHY_ENDPOINT, eventTypes: BOTH },
  { name: 'flaky', eventTypes: BOTH, headers: HEADERS, react: failsSometimes },
  {
    name: 'slow',
    eventTypes: ['call.status'],
    react: (seed, { deliveryId, attempt }) => ({
      status: 200,
      delayMs: 200 + Math.floor(300 * chance(seed, `${deliveryId} ${attempt}`)),
    }),
  },
  { name: 'sometimes down', eventTypes: BOTH, isSometimesDown: true },
  // Agents change state less often than calls do, so the backlog of a minute stays small.
  { name: DOWN_FOR_LONG, eventTypes: ['agent.status'] },
  { name: BROKEN_AT_FIRST, eventTypes: ['call.status'], isBrokenAtFirst: true },
  {
    name: 'rejecting some',
    eventTypes: BOTH,
    // Chosen by delivery, not by attempt: every attempt of a rejected delivery is rejected.
    react: (seed, { deliveryId }) => (chance(seed, deliveryId) < 0.05 ? { ...HEALTHY, status: 400 } : HEALTHY),
  },
  {
    name: 'filtered',
    eventTypes: BOTH,
    filter: {
      // The events of the other platform have no state.
      'call.status': { state: [CallState.ended, { numeric: ['<', 3] }, { exists: false }] },
      'agent.status': {
        agentUri: [{ prefix: 'sip:agent-1' }, { suffix: '2@acme.example' }],
        statusCode: [{ 'anything-but': 1 }],
      },
    },
    passes: (content) => {
      if (content.kind === 'leg') return content.state === 7 || content.state < 3
      if (content.kind !== 'agent') return content.kind === 'platform'
      return /^sip:agent-1|2@acme\.example$/.test(content.agentUri) && content.state !== 1
    },
    react: failsSometimes,
  },
  {
    name: 'expiring',
    eventTypes: [...BOTH, ...NOTICES],
    expireAfterSeconds: 10,
    // The fifth attempt is due after 11 s: only ends of calls and notices are still sent. Few fail: each that makes the probe
    // prolongs the cool-down of all, in which notices would run out of their schedule.
    react: (seed, { deliveryId, attempt }) =>
      attempt <= 4 && chance(seed, deliveryId) < 0.03 ? { ...HEALTHY, status: 503 } : HEALTHY,
  },
  { name: PAUSED_AT_TIMES, eventTypes: BOTH, react: failsSometimes },
  // The outages are longer.
  { name: 'pulled', eventTypes: BOTH, mode: 'pull', deleteAfterUnusedSeconds: 60 },
  { name: 'ops', eventTypes: NOTICES },
  {
    name: 'ops, rejecting some',
    eventTypes: NOTICES,
    // A parked notice must not cause another notice, so some notices have to be parked.
    react: (seed, { deliveryId }) => (chance(seed, deliveryId) < 0.2 ? { ...HEALTHY, status: 400 } : HEALTHY),
  },
]
