import { parseDeliveryId } from '@switchhook/contracts'
import { openVault } from '@switchhook/signing'
import { aSubscription, silentLog } from '@switchhook/testkit'
import { createLeaseTokens } from './lease-tokens.ts'
import { reportOutcomes } from './outcomes-route.ts'

const ID = '5f0d1b7e-8d3c-4a52-9b61-0c7e2f4a9d10'
const OTHER = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'
const one = { deliveryId: ID, leaseToken: 'lease', status: 200 }
const REQUEST = {
  caller: { tenant: 'acme', clientId: 'a', role: 'operator' },
  query: undefined as never,
  requestId: 'r',
  idFor: (name: string) => name,
  isKeyed: false,
  isClosed: () => false,
} as const
const TWICE = { pointer: '/items/1/deliveryId', detail: 'is in the list twice' }
const NOT_ONE = { pointer: '/items/0', detail: 'must have exactly one of status, error and release' }

test.each<[string, readonly object[], readonly object[]]>([
  ['different deliveries', [one, { ...one, deliveryId: OTHER }], []],
  ['a delivery twice', [one, one], [TWICE]],
  ['a delivery twice, in other letters', [one, { ...one, deliveryId: ID.toUpperCase() }], [TWICE]],
  ['no outcome', [{ ...one, status: undefined }], [NOT_ONE]],
  ['two outcomes', [{ ...one, error: 'timeout' }], [NOT_ONE]],
])('outcomes of %s: the faults', (_case, items, faults) => {
  const failure = reportOutcomes.validate?.({ items }, [], {} as never)
  expect(failure?.extra.errors ?? []).toEqual(faults)
})

const LEASE = '1795194391173030'
const tokens = createLeaseTokens(openVault({ SECRET_KEYS: undefined }, silentLog))
const [mine, another] = [aSubscription({ mode: 'pull', url: '' }), aSubscription({ mode: 'pull', url: '' })]
const given = tokens.of(mine.id, parseDeliveryId(ID), LEASE)

test.each<[string, string, string, string[]]>([
  ['the token that was handed out', ID, given, [LEASE]],
  ['the time at which the lease ends, which can be guessed', ID, LEASE, []],
  ['the token of another delivery', OTHER, given, []],
  ['the token of another subscription', ID, tokens.of(another.id, parseDeliveryId(ID), LEASE), []],
  ['the token of another lease', ID, given.replace(LEASE, '1795194391174030'), []],
  ['a changed token', ID, given.replace(/\.(.)/, (_, first) => `.${first === 'A' ? 'B' : 'A'}`), []],
])('with %s, a client reports and releases what is its own alone', async (_case, deliveryId, leaseToken, leases) => {
  const asked: string[] = []
  const handle = (outcome: object) =>
    reportOutcomes.handle(
      { ...REQUEST, params: { id: mine.id }, body: { items: [{ deliveryId, leaseToken, ...outcome }] } },
      {
        subscriptions: { find: async () => mine },
        broker: { isReady: () => true },
        held: {
          report: async (_id: unknown, all: readonly { lease: string }[]) => (
            asked.push(...all.map(({ lease }) => lease)), []
          ),
          release: async (_id: unknown, all: readonly { lease: string }[]) => (
            asked.push(...all.map(({ lease }) => lease)), []
          ),
        },
        deliveryLog: { records: async () => [] },
        tokens,
        now: () => 0,
      } as never,
    )
  await handle({ status: 200 })
  expect(asked).toEqual(leases)
  expect((await handle({ release: true })).body).toMatchObject({ items: [{ result: 'lease-lost' }] })
  expect(asked).toEqual([...leases, ...leases])
})
