import type { Subscription } from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import { HEALTHY } from '../testing/delivering.ts'
import { planVisit, type VisitPlan } from './plan-visit.ts'

const NOW_MS = Date.parse('2026-11-20T12:00:00.000Z')
const DUE = { nowMs: NOW_MS, dueAtMs: NOW_MS - 1, lapsesAtMs: null }
const LEASED = { nowMs: NOW_MS, dueAtMs: null, lapsesAtMs: NOW_MS + 5_000 }
const OPEN = { ...HEALTHY, state: 'open', openUntilMs: NOW_MS + 30_000 } as const
const PROBING = { ...HEALTHY, state: 'probing' } as const

test.each<
  [string, Partial<Subscription> | undefined, typeof HEALTHY, Parameters<typeof planVisit>[1], Partial<VisitPlan>]
>([
  ['paused', { paused: true }, HEALTHY, DUE, { kind: 'wait', nextInMs: 60_000 }],
  ['paused, with a lease', { paused: true }, HEALTHY, LEASED, { kind: 'wait', nextInMs: 5_000 }],
  ['in a cool-down, with a lease that ended', {}, OPEN, { ...DUE, lapsesAtMs: NOW_MS }, { kind: 'end-leases' }],
  ['paused and disabled', { paused: true, enabled: false }, HEALTHY, DUE, { kind: 'withdraw', nextInMs: 60_000 }],
  ['paused and disabled, after a cool-down', { paused: true, enabled: false }, PROBING, DUE, { kind: 'withdraw' }],
  ['in a cool-down', {}, OPEN, DUE, { kind: 'wait', nextInMs: 30_000 }],
  ['after a cool-down', {}, PROBING, DUE, { kind: 'publish-all', isProbing: true }],
  ['with limits', { maxInFlight: 2 }, HEALTHY, DUE, { kind: 'pass-on', isProbing: false }],
  [
    'with limits, paused and disabled',
    { maxInFlight: 2, paused: true, enabled: false },
    HEALTHY,
    DUE,
    { kind: 'withdraw' },
  ],
  ['that was resumed', {}, HEALTHY, DUE, { kind: 'publish-all', isProbing: false, nextInMs: 1_000 }],
  ['that was deleted, with a lease', undefined, HEALTHY, LEASED, { kind: 'publish-all', nextInMs: 5_000 }],
])('the plan for a subscription %s', (_name, change, health, next, plan) => {
  const subscription = change && aSubscription(change)
  expect(planVisit({ health, subscription }, next)).toMatchObject(plan)
})

test('nothing is left', () => {
  const nothing = { nowMs: NOW_MS, dueAtMs: null, lapsesAtMs: null }
  expect(planVisit({ health: OPEN, subscription: aSubscription() }, nothing)).toEqual({ kind: 'end', nextInMs: null })
})
