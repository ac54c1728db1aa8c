import { createTenantShares, type TenantShares } from './tenant-shares.ts'

const routeAll = (shares: TenantShares, tenant: string, events: number) =>
  Array.from({ length: events }, () => shares.route(tenant, false))

const backlogOfRoute = (route: ReturnType<TenantShares['route']>): number | undefined =>
  route.to === 'backlog' ? route.backlog : undefined

/** Returns the number of events that were routed directly. */
const fill = (shares: TenantShares, tenant: string, events: number): number =>
  routeAll(shares, tenant, events).filter(({ to }) => to === 'handling').length

const backlogFor = (shares: TenantShares, tenant: string | null, areDeliveriesLate = false): number | undefined =>
  backlogOfRoute(shares.route(tenant, areDeliveriesLate))

function countAndAsk(shares: TenantShares, tenant: string): boolean {
  shares.countRecent(tenant, 1)
  return shares.givesWay(tenant)
}

test('a tenant has 30 events in progress; the others go to its backlog', () => {
  const shares = createTenantShares()
  expect(fill(shares, 'burst', 100)).toBe(30)
  expect(backlogFor(shares, 'other')).toBeUndefined()
  expect([...shares.backlogs()]).toHaveLength(1)
  expect(shares.deferredTenants()).toBe(1)
})

test('deliveries beyond the first 200 of a tenant that made over a tenth of the recent ones give way, those of others do not', () => {
  const shares = createTenantShares()
  expect(Array.from({ length: 201 }, () => countAndAsk(shares, 'burst')).lastIndexOf(false)).toBe(199)
  expect(countAndAsk(shares, 'small')).toBe(false)
  for (let n = 0; n < 10; n++) shares.countRecent(`tenant-${n}`, 190)
  expect(countAndAsk(shares, 'burst')).toBe(false)
  shares.countRecent('burst', 100)
  expect(countAndAsk(shares, 'burst')).toBe(true)
})

test('many tenants that are equally busy are handled directly, and one that is busier than they are is deferred', () => {
  const shares = createTenantShares()
  for (let n = 0; n < 40 * 50; n++) expect(backlogFor(shares, `tenant-${n % 50}`)).toBeUndefined()
  expect(fill(shares, 'burst', 1_000)).toBeLessThan(150)
  for (let n = 0; n < 50; n++) expect(backlogFor(shares, `tenant-${n}`)).toBeUndefined()
  expect(shares.deferredTenants()).toBe(1)
})

test('what is finished no longer counts', () => {
  const shares = createTenantShares()
  const routes = Array.from({ length: 1_000 }, (_, n) => shares.route(`tenant-${n}`, false))
  for (const [n, { end }] of routes.entries()) {
    shares.countRecent(`tenant-${n}`, 3)
    end()
  }
  expect(fill(shares, 'burst', 100)).toBe(30)
})

test('a single event is handled directly, whatever its deliveries', () => {
  const shares = createTenantShares()
  shares.countRecent('large', 100_000)
  expect(backlogFor(shares, 'large')).toBeUndefined()
})

test('a deferred tenant stays deferred until its backlog is empty and at most a packet of its events is on the way there', () => {
  const shares = createTenantShares()
  const routes = routeAll(shares, 'burst', 30 + 101)
  const [backlog] = shares.backlogs()
  for (const { end } of routes.slice(0, 30)) end()
  const packing = routes.slice(30)
  expect(new Set(packing.map(backlogOfRoute))).toEqual(new Set([backlog]))
  shares.endDeferrals(() => true)
  expect(backlogFor(shares, 'burst')).toBe(backlog)
  for (const { end } of packing.slice(0, 2)) end()
  shares.endDeferrals(() => false)
  expect(backlogFor(shares, 'burst')).toBe(backlog)
  packing[2]?.end()
  shares.endDeferrals((queue) => queue === backlog)
  expect(backlogFor(shares, 'burst')).toBeUndefined()
})

test('late deliveries defer the tenants that made most of them, and no small one', () => {
  const shares = createTenantShares()
  shares.countRecent('burst', 5_000)
  shares.countRecent('small', 150)
  shares.countRecent('tenth', 400)
  expect(backlogFor(shares, 'burst', true)).toBeDefined()
  expect(backlogFor(shares, 'small', true)).toBeUndefined()
  expect(backlogFor(shares, 'tenth', true)).toBeUndefined()
  expect(backlogFor(createTenantShares(), 'new', true)).toBeUndefined()
})

test('what was recent counts half after each second, and idle tenants are forgotten', () => {
  const shares = createTenantShares()
  shares.countRecent('burst', 5_000)
  for (let second = 0; second < 5; second++) shares.age()
  const { to, end } = shares.route('burst', true)
  expect(to).toBe('handling')
  end()
  for (let second = 0; second < 10; second++) shares.age()
  expect(shares.size()).toBe(0)
})

test('deferred tenants get different backlogs while there are any', () => {
  const shares = createTenantShares()
  for (let n = 0; n < 16; n++) fill(shares, `tenant-${n}`, 31)
  expect(shares.backlogs().size).toBe(16)
  fill(shares, 'tenant-16', 31)
  expect(shares.deferredTenants()).toBe(17)
  expect(shares.backlogs().size).toBe(16)
})

test('events of the installation itself count as a tenant', () => {
  const shares = createTenantShares()
  for (let n = 0; n < 30; n++) expect(backlogFor(shares, null)).toBeUndefined()
  expect(backlogFor(shares, null)).toBeDefined()
})
