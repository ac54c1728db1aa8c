import { TenantShares } from './tenant-shares.ts'

/** Resolves to the number of events that were routed directly before the first that was not. */
function fill(shares: TenantShares, tenant: string, events: number): number {
  let direct = 0
  for (let n = 0; n < events; n++) if (shares.route(tenant, false) === undefined) direct += 1
  return direct
}

test('a tenant has 30 events in progress; the others go to its backlog', () => {
  const shares = new TenantShares()
  expect(fill(shares, 'burst', 100)).toBe(30)
  expect(shares.route('other', false)).toBeUndefined()
  expect([...shares.backlogs()]).toHaveLength(1)
  expect(shares.deferredTenants()).toBe(1)
})

test('deliveries beyond the first 200 of a tenant that made over a tenth of the recent ones give way, those of others do not', () => {
  const shares = new TenantShares()
  expect(Array.from({ length: 201 }, () => shares.charge('burst', 1)).lastIndexOf(false)).toBe(199)
  expect(shares.charge('small', 1)).toBe(false)
  for (let n = 0; n < 10; n++) shares.charge(`tenant-${n}`, 190)
  expect(shares.charge('burst', 1)).toBe(false)
  shares.charge('burst', 100)
  expect(shares.charge('burst', 1)).toBe(true)
})

test('many tenants that are equally busy are handled directly, and one that is busier than they are is deferred', () => {
  const shares = new TenantShares()
  for (let n = 0; n < 40 * 50; n++) expect(shares.route(`tenant-${n % 50}`, false)).toBeUndefined()
  expect(fill(shares, 'burst', 1_000)).toBeLessThan(150)
  for (let n = 0; n < 50; n++) expect(shares.route(`tenant-${n}`, false)).toBeUndefined()
  expect(shares.deferredTenants()).toBe(1)
})

test('what is finished no longer counts', () => {
  const shares = new TenantShares()
  for (let n = 0; n < 1_000; n++) shares.route(`tenant-${n}`, false)
  for (let n = 0; n < 1_000; n++) {
    shares.charge(`tenant-${n}`, 3)
    shares.finished(`tenant-${n}`)
  }
  expect(fill(shares, 'burst', 100)).toBe(30)
})

test('a single event is handled directly, whatever its deliveries', () => {
  const shares = new TenantShares()
  shares.charge('large', 100_000)
  expect(shares.route('large', false)).toBeUndefined()
})

test('a deferred tenant stays deferred until its backlog is empty and at most a packet of its events is on the way there', () => {
  const shares = new TenantShares()
  expect(fill(shares, 'burst', 30 + 101)).toBe(30)
  for (let n = 0; n < 30; n++) shares.finished('burst')
  const [backlog] = shares.backlogs()
  shares.endDeferrals(() => true)
  expect(shares.route('burst', false)).toBe(backlog)
  shares.packed('burst')
  shares.packed('burst')
  shares.endDeferrals(() => false)
  expect(shares.route('burst', false)).toBe(backlog)
  shares.packed('burst')
  shares.endDeferrals((queue) => queue === backlog)
  expect(shares.route('burst', false)).toBeUndefined()
})

test('late deliveries defer the tenants that made most of them, and no small one', () => {
  const shares = new TenantShares()
  shares.charge('burst', 5_000)
  shares.charge('small', 150)
  shares.charge('tenth', 400)
  expect(shares.route('burst', true)).toBeDefined()
  expect(shares.route('small', true)).toBeUndefined()
  expect(shares.route('tenth', true)).toBeUndefined()
  expect(new TenantShares().route('new', true)).toBeUndefined()
})

test('what was recent counts half after each second, and idle tenants are forgotten', () => {
  const shares = new TenantShares()
  shares.charge('burst', 5_000)
  for (let second = 0; second < 5; second++) shares.age()
  expect(shares.route('burst', true)).toBeUndefined()
  shares.finished('burst')
  for (let second = 0; second < 10; second++) shares.age()
  expect(shares.size()).toBe(0)
})

test('deferred tenants get different backlogs while there are any', () => {
  const shares = new TenantShares()
  for (let n = 0; n < 16; n++) fill(shares, `tenant-${n}`, 31)
  expect(shares.backlogs().size).toBe(16)
  fill(shares, 'tenant-16', 31)
  expect(shares.deferredTenants()).toBe(17)
  expect(shares.backlogs().size).toBe(16)
})

test('events of the installation itself count as a tenant', () => {
  const shares = new TenantShares()
  for (let n = 0; n < 30; n++) expect(shares.route(null, false)).toBeUndefined()
  expect(shares.route(null, false)).toBeDefined()
})
