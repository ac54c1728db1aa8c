import type { Subscription } from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import { createDeleteUnused, watchUse } from './delete-unused.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const MINUTE = 60_000
const present = aSubscription({ mode: 'pull', url: '', deleteAfterUnusedSeconds: 60 })

/** What happens when the timer falls due. */
async function fall(
  stored: Subscription | undefined,
  sinceMs: number,
  lastAtMs: number | null,
  {
    atRemoval = stored,
    leased = 0,
    isFirst = true,
    seconds = 60,
    isLast = true,
    upSinceMs = 0,
    unreachableMsAgo = Infinity,
    visitSoon = async () => {},
  }: {
    readonly atRemoval?: Subscription | undefined
    readonly leased?: number
    readonly isFirst?: boolean
    readonly seconds?: number
    readonly upSinceMs?: number
    /** Of the identity provider. */
    readonly unreachableMsAgo?: number
    readonly isLast?: boolean
    readonly visitSoon?: () => Promise<void>
  } = {},
) {
  const happened: string[] = []
  const handle = createDeleteUnused({
    subscriptions: {
      find: async () => stored,
      remove: async (_tenant, _id, check) => {
        if (atRemoval !== undefined) check?.(atRemoval)
        happened.push('deleted')
        return isFirst
      },
      removeLists: async () => {},
    },
    pullers: { find: async () => ({ lastAtMs, pullers: [] }) },
    uptime: { read: async () => ({ nowMs: NOW, periods: [{ fromMs: upSinceMs, untilMs: NOW }] }) },
    auth: { unreachableMsAgo: () => unreachableMsAgo },
    held: { visitSoon, count: async () => ({ count: leased, leased, oldestAt: null }) },
    state: {
      commit: async (_tenant, { timers: [timer] }) => {
        const payload = timer?.payload as { readonly isLast?: boolean } | undefined
        happened.push(`${payload?.isLast === true ? 'for the last time' : 'again'} in ${timer?.dueInMs}`)
        return 'committed'
      },
    },
    auditLog: {
      recordOwn: async (tenant, action, { subscriptionId }) => {
        expect([tenant, subscriptionId]).toEqual([present.tenant, present.id])
        happened.push(action)
      },
    },
    log: { info: () => {} },
  })
  const payload = { subscriptionId: present.id, sinceMs, seconds, ...(isLast && { isLast }) }
  await handle?.({ tenant: present.tenant, payload }).catch(() => happened.push('tried again'))
  return happened
}

const { deleteAfterUnusedSeconds: _, ...kept } = present

test.each<[string, Parameters<typeof fall>, string[]]>([
  ['nobody has ever received', [present, NOW - MINUTE, null], ['deleted', 'subscription.deleted']],
  [
    'the process can die after the deletion',
    [present, NOW - MINUTE, null, { isLast: false }],
    ['for the last time in 0'],
  ],
  ['the process died after the deletion', [undefined, NOW - MINUTE, null], ['subscription.deleted']],
  [
    'Redis fails after the deletion: the next try makes the only entry',
    [present, NOW - MINUTE, null, { visitSoon: () => Promise.reject(new Error('away')) }],
    ['deleted', 'tried again'],
  ],
  [
    'no client could get or use a token until 20 s ago',
    [present, NOW - 10 * MINUTE, NOW - MINUTE, { unreachableMsAgo: 20_000 }],
    ['again in 40000'],
  ],
  ['nobody has received for long', [present, NOW - 10 * MINUTE, NOW - MINUTE], ['deleted', 'subscription.deleted']],
  ['a client deletes it at this moment', [present, NOW - MINUTE, null, { isFirst: false }], ['deleted']],
  ['somebody received a moment ago', [present, NOW - 10 * MINUTE, NOW - 1_000], ['again in 59000']],
  ['the same setting was sent again', [present, NOW - 1_000, NOW - 10 * MINUTE], ['again in 59000']],
  ['another setting is stored, with a timer of its own', [present, NOW - 10 * MINUTE, null, { seconds: 600 }], []],
  ['the api has just returned', [present, NOW - 10 * MINUTE, null, { upSinceMs: NOW - 1_000 }], ['again in 59000']],
  ['the setting was removed', [kept, NOW - MINUTE, null], []],
  [
    'a client has what it received long ago',
    [present, NOW - 10 * MINUTE, NOW - MINUTE, { leased: 1 }],
    ['again in 60000'],
  ],
  ['the setting is removed at this moment', [present, NOW - MINUTE, null, { atRemoval: kept }], []],
  [
    'the setting is prolonged at this moment',
    [present, NOW - MINUTE, null, { atRemoval: { ...present, deleteAfterUnusedSeconds: 604_800 } }],
    [],
  ],
  ['a client has deleted it', [undefined, NOW - MINUTE, null, { isLast: false }], []],
])('%s', async (_name, args, happened) => expect(await fall(...args)).toEqual(happened))

test('a timer is gone after a quarter of an hour, whatever setting or deleted subscription it belongs to', async () => {
  const dueInMs = async (deleteAfterUnusedSeconds: number, leftMs?: number): Promise<unknown> => {
    const timers: { readonly dueInMs: number }[] = []
    const commit = async (_: unknown, change: { readonly timers: readonly { readonly dueInMs: number }[] }) => {
      timers.push(...change.timers)
      return 'committed' as const
    }
    await watchUse({ commit }, { ...present, deleteAfterUnusedSeconds }, NOW, leftMs)
    return timers.map((timer) => timer.dueInMs)
  }
  expect(await dueInMs(60)).toEqual([MINUTE])
  expect(await dueInMs(604_800)).toEqual([15 * MINUTE])
  expect(await dueInMs(604_800, 604_700_000)).toEqual([15 * MINUTE])
  expect(await fall({ ...present, deleteAfterUnusedSeconds: 604_800 }, NOW, null, { seconds: 604_800 })).toEqual([
    `again in ${15 * MINUTE}`,
  ])
})

test('only a subscription with the setting gets a timer', async () => {
  const timers: unknown[] = []
  const state = { commit: async (_: unknown, change: object) => (timers.push(change), 'committed' as const) }
  await watchUse(state, kept, NOW)
  expect(timers).toEqual([])
  await watchUse(state, present, NOW)
  expect(timers).toMatchObject([{ timers: [{ id: `unused:${present.id}:60`, dueInMs: MINUTE }] }])
})
