import { deliveryIdOf, newEventId, newSubscriptionId } from '@switchhook/contracts'
import * as fc from 'fast-check'
import * as keys from './keys.ts'

const tenant = fc.option(
  fc.string({
    unit: fc.constantFrom('a', '0', '{', '}', ':', '~', '.', '-', '\ud800', 'ü'),
    minLength: 1,
    maxLength: 6,
  }),
)
/** Redis Cluster hashes only the text between the first opening brace and the next closing one. */
const hashTag = (key: string): string | undefined => /\{([^}]+)\}/.exec(key)?.[1]

test('two tenants never share a key', () => {
  fc.assert(
    fc.property(tenant, tenant, fc.string(), fc.string(), (one, two, name, otherName) => {
      fc.pre(one !== two)
      expect(keys.subscriptionsKey(one)).not.toBe(keys.subscriptionsKey(two))
      expect(keys.revisionKey(one)).not.toBe(keys.revisionKey(two))
      expect(keys.journalKey(one)).not.toBe(keys.journalKey(two))
      expect(keys.checksKey(one)).not.toBe(keys.checksKey(two))
      expect(keys.statisticsKey(one, null, '1m', 1)).not.toBe(keys.statisticsKey(two, null, '1m', 1))
      expect(keys.auditKey(one)).not.toBe(keys.auditKey(two))
      expect(keys.commandAuditKey(one)).not.toBe(keys.commandAuditKey(two))
      expect(keys.commandAuditKey(one)).not.toBe(keys.auditKey(two))
      expect(keys.stateKey(one, name)).not.toBe(keys.stateKey(two, otherName))
      expect(keys.timerMember(one, name)).not.toBe(keys.timerMember(two, otherName))
    }),
    // The second is the escaped form of the first.
    { examples: [['a:b', 'a~003ab', 'name', 'name']] },
  )
})

test('keys that change in one step share a cluster slot', () => {
  fc.assert(
    fc.property(tenant, fc.string(), (owner, name) => {
      const part = keys.partitionOf(owner)
      const timers = [keys.timersKey(part), keys.timerPayloadsKey(part), keys.timersClockKey(part)]
      const step = [keys.stateKey(owner, name), keys.outboxKey(part), ...timers]
      expect(new Set(step.map(hashTag))).toEqual(new Set([`p${part}`]))
      const subscriptions = [
        keys.revisionKey(owner),
        keys.subscriptionOrderKey(owner),
        keys.subscriptionBytesKey(owner),
        keys.subscriptionChangesKey(owner),
      ]
      expect(new Set(subscriptions.map(hashTag))).toEqual(new Set([hashTag(keys.subscriptionsKey(owner))]))
    }),
  )
  const id = deliveryIdOf(newEventId(), newSubscriptionId())
  expect([keys.recordKey(id), keys.bodyKey(id), keys.ledgerKey(id)].map(hashTag)).toEqual([id, id, id])
})

test('a tenant never changes its partition', () => {
  // Literal numbers, because state stored in another partition would never be found again.
  const known = [null, 'acme', 'globex', 'Zürich'].map(keys.partitionOf)
  expect(known).toEqual([0, 14, 10, 14])
  expect(keys.PARTITIONS).toHaveLength(16)
})
