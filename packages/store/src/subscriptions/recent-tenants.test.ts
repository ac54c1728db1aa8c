import { aSubscription } from '@switchhook/testkit'
import { createRecentTenants } from './matching.ts'
import { SubscriptionIndex } from './subscription-index.ts'

function tenantWith(subscriptions: number, revision = 'r') {
  const index = new SubscriptionIndex()
  for (let n = 0; n < subscriptions; n++) {
    const subscription = aSubscription({ url: 'https://client.example' })
    index.put(subscription.id, subscription)
  }
  return { revision, index }
}

const remembered = (tenants: ReturnType<typeof createRecentTenants>, names: readonly string[]): string[] =>
  names.filter((name) => tenants.get(name) !== undefined)

test('beyond the limit the tenants that were not used for longest are forgotten', () => {
  const tenants = createRecentTenants(21)
  for (const name of ['a', 'b', 'c']) tenants.set(name, tenantWith(3))
  tenants.get('a')
  tenants.set('d', tenantWith(1))
  expect(remembered(tenants, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd'])
})

test('a tenant larger than the limit is kept next to small ones, which do not share their room with it', () => {
  const tenants = createRecentTenants(12)
  for (let times = 0; times < 10; times++) {
    tenants.set('large', tenantWith(50, `r${times}`))
    for (const name of ['a', 'b', 'c']) tenants.set(name, tenantWith(1))
  }
  expect(remembered(tenants, ['large', 'a', 'b', 'c'])).toEqual(['large', 'b', 'c'])
  expect(tenants.get('large')?.revision).toBe('r9')
})

test('one tenant larger than the limit is kept: the one that was set last', () => {
  const tenants = createRecentTenants(12)
  tenants.set('large', tenantWith(50))
  tenants.set('larger', tenantWith(60))
  tenants.set('small', tenantWith(1))
  expect(remembered(tenants, ['large', 'larger', 'small'])).toEqual(['larger', 'small'])
})

test('a tenant that grows beyond the limit or shrinks below it is counted accordingly', () => {
  const tenants = createRecentTenants(12)
  for (const subscriptions of [1, 50, 1, 50, 1]) tenants.set('a', tenantWith(subscriptions))
  tenants.set('b', tenantWith(3))
  expect(remembered(tenants, ['a', 'b'])).toEqual(['a', 'b'])
  tenants.set('c', tenantWith(0))
  expect(remembered(tenants, ['a', 'b', 'c'])).toEqual(['b', 'c'])
})

test('a tenant is counted once, however often it is set', () => {
  const tenants = createRecentTenants(14)
  tenants.set('other', tenantWith(3))
  for (let times = 0; times < 10; times++) tenants.set('a', tenantWith(3, `r${times}`))
  expect(remembered(tenants, ['other', 'a'])).toEqual(['other', 'a'])
  expect(tenants.get('a')?.revision).toBe('r9')
})

test('tenants without subscriptions are bounded as well', () => {
  const tenants = createRecentTenants(12)
  const names = Array.from({ length: 100 }, (_, n) => `tenant-${n}`)
  for (const name of names) tenants.set(name, tenantWith(0))
  expect(remembered(tenants, names)).toHaveLength(3)
})
