import { assert, constantFrom, property, string, uniqueArray } from 'fast-check'
import { ROLES, type Role, type RoleMapping, requireRole, roleOf, rolesIn } from './role.ts'

const MAPPING: RoleMapping = {
  claim: 'roles',
  viewer: ['reader'],
  operator: ['agent desk', 'operator'],
  admin: ['owner', 'root'],
}

test.each<[string, Record<string, unknown>, Role | null]>([
  ['an array of one value', { roles: ['reader'] }, 'viewer'],
  ['the highest role of several', { roles: ['reader', 'root', 'operator'] }, 'admin'],
  ['a string', { roles: 'operator' }, 'operator'],
  ['a string with a space that is one value', { roles: 'agent desk' }, 'operator'],
  ['values with spaces between them', { roles: 'openid reader root' }, 'admin'],
  ['an unknown value', { roles: ['Root'] }, null],
  ['an empty array', { roles: [] }, null],
  ['no claim', {}, null],
  ['an object', { roles: { root: true } }, null],
  ['a value that is no string', { roles: [['root'], 7, null] }, null],
  ['a claim of the prototype only', Object.create({ roles: ['root'] }) as Record<string, unknown>, null],
])('%s', (_name, claims, role) => {
  expect(roleOf(claims, MAPPING)).toBe(role)
})

test.each<[string, Record<string, unknown>]>([
  ['https://acme.example/roles', { 'https://acme.example/roles': ['x'] }],
  ['/realm_access/roles', { realm_access: { roles: ['x'] } }],
  ['/resource_access/a~1b~0c/roles', { resource_access: { 'a/b~c': { roles: 'x' } } }],
  ['/strange', { '/strange': 'x' }],
])('the claim %s is found', (claim, claims) => {
  expect(roleOf(claims, { claim, operator: ['x'] })).toBe('operator')
  expect(roleOf({ realm_access: null }, { claim, operator: ['x'] })).toBeNull()
})

test('without a configuration everyone is an admin', () => {
  expect(roleOf({}, undefined)).toBe('admin')
})

test('a role includes the ones before it, and nothing more', () => {
  expect(ROLES.map((role) => rolesIn(role))).toEqual([
    ['viewer'],
    ['viewer', 'operator'],
    ['viewer', 'operator', 'admin'],
  ])
  expect(rolesIn(null)).toEqual([])
})

test('a refusal names the needed role and the one that the token gives', () => {
  expect(() => requireRole('viewer', 'operator')).toThrow(
    'This operation needs the role operator; your token gives the role viewer.',
  )
  expect(() => requireRole(null, 'viewer')).toThrow('your token gives no role')
  expect(() => requireRole('operator')).toThrow('needs the role admin')
})

test('more values never take a role away', () => {
  const value = constantFrom('reader', 'agent desk', 'operator', 'owner', 'root', 'else')
  assert(
    property(uniqueArray(value), uniqueArray(value), string(), (some, more, noise) => {
      const less = rolesIn(roleOf({ roles: some }, MAPPING))
      const all = rolesIn(roleOf({ roles: [...some, ...more, `${noise}?`] }, MAPPING))
      expect(all).toEqual(expect.arrayContaining([...less]))
    }),
  )
})
