import type { Subscription } from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import { changeSubscription, deleteSubscription } from './change-routes.ts'
import type { SubscriptionRouteDeps } from './subscription-routes.ts'

const pull = aSubscription({ mode: 'pull', url: '' })

/** @param stored the subscription that there is */
function surroundings(stored: Subscription | undefined) {
  const timers: unknown[] = []
  const warnings: string[] = []
  const deps = {
    subscriptions: {
      find: async () => stored,
      revise: async () => undefined,
      remove: async (_tenant: string, _id: string, check: (present: Subscription) => void) => {
        if (stored !== undefined) check(stored)
        return stored !== undefined
      },
      removeLists: () => Promise.reject(new Error('Redis is away')),
    },
    held: { visitSoon: () => Promise.reject(new Error('Redis is away')) },
    state: { commit: async (_tenant: string, change: object) => void timers.push(change) },
    log: { warn: (message: string) => void warnings.push(message) },
    now: () => 0,
  } as unknown as SubscriptionRouteDeps
  const request = {
    caller: { tenant: pull.tenant, clientId: 'a', role: 'admin' },
    params: { id: pull.id },
    query: undefined as never,
    requestId: 'r',
    idFor: (name: string) => name,
    isKeyed: false,
    isClosed: () => false,
  } as const
  return { deps, request, timers, warnings }
}

test.each<[string, string, Subscription | undefined, string | undefined]>([
  ['subscription-not-found', 'of an unknown subscription', undefined, undefined],
  ['precondition-failed', 'of another version', pull, '"stale"'],
  ['invalid-request', 'of a subscription that is not a pull subscription', aSubscription(), undefined],
])('a change refused with %s, because it is %s, sets no timer', async (code, _why, stored, ifMatch) => {
  const { deps, request, timers } = surroundings(stored)
  const body = { deleteAfterUnusedSeconds: 60 }
  const change = { ...request, body, ...(ifMatch !== undefined && { ifMatch }) }
  await expect(changeSubscription.handle(change, deps)).rejects.toMatchObject({ code })
  expect(timers).toEqual([])
})

test('a deletion is answered, and so audited, although Redis is away for what follows', async () => {
  const { deps, request, warnings } = surroundings(pull)
  expect(await deleteSubscription.handle({ ...request, body: undefined as never }, deps)).toEqual({ status: 204 })
  expect(warnings).toHaveLength(2)
})
