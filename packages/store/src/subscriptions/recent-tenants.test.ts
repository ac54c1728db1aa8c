import { newSubscriptionId } from '@switchhook/contracts'
import { RecentTenants } from './recent-tenants.ts'
import { SubscriptionIndex } from './subscription-index.ts'

function tenantWith(subscriptions: number, revision = 'r') {
  const index = new SubscriptionIndex('acme')
  for (let n = 0; n < subscriptions; n++) {
    const id = newSubscriptionId()
    const rest = { tenant: 'acme', description: null, enabled: true, createdAt: '2026-11-20T12:00:00.000Z' }
    index.put(id, { id, url: 'https://client.example', eventTypes: ['call.status'], ...rest })
  }
  return { revision, index }
}

const remembered = (tenants: RecentTenants, names: readonly string[]): string[] =>
  names.filter((name) => tenants.get(name) !== undefined)

test('beyond the limit the tenants that were not used for longest are forgotten', () => {
  const tenants = new RecentTenants(21)
  for (const name of ['a', 'b', 'c']) tenants.set(name, tenantWith(3))
  tenants.get('a')
  tenants.set('d', tenantWith(1))
  expect(remembered(tenants, ['a', 'b', 'c', 'd'])).toEqual(['a', 'c', 'd'])
})

test('a tenant larger than the limit is kept until another one needs the room', () => {
  const tenants = new RecentTenants(12)
  tenants.set('small', tenantWith(1))
  tenants.set('large', tenantWith(50))
  expect(remembered(tenants, ['small', 'large'])).toEqual(['large'])
  tenants.set('small', tenantWith(1))
  expect(remembered(tenants, ['small', 'large'])).toEqual(['small'])
})

test('a tenant is counted once, however often it is set', () => {
  const tenants = new RecentTenants(14)
  tenants.set('other', tenantWith(3))
  for (let times = 0; times < 10; times++) tenants.set('a', tenantWith(3, `r${times}`))
  expect(remembered(tenants, ['other', 'a'])).toEqual(['other', 'a'])
  expect(tenants.get('a')?.revision).toBe('r9')
})

test('tenants without subscriptions are bounded as well', () => {
  const tenants = new RecentTenants(12)
  const names = Array.from({ length: 100 }, (_, n) => `tenant-${n}`)
  for (const name of names) tenants.set(name, tenantWith(0))
  expect(remembered(tenants, names)).toHaveLength(3)
})
