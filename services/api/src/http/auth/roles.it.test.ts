import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { SPECS } from '../../describe-api.ts'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import { ROLES, type Role, rolesIn } from '../role.ts'

let around: Surroundings<'acme' | 'globex'>
let api: ApiUnderTest

beforeAll(async () => {
  around = await startSurroundings('acme', 'globex')
  const roles = { claim: '/app/roles', viewer: ['read'], operator: ['operate'], admin: ['administer'] }
  const [acme, globex] = JSON.parse(around.env.AUTH_ISSUERS) as object[]
  api = await startApiUnderTest({ ...around.env, AUTH_ISSUERS: JSON.stringify([{ ...acme, roles }, globex]) })
})

afterAll(async () => {
  await api.close()
  await around.close()
})

const VALUES: Readonly<Record<Role, string>> = { viewer: 'read', operator: 'operate', admin: 'administer' }

const tokenOf = (role: Role | null) =>
  around.bearer('acme', {
    azp: 'console',
    sub: `a person, ${role}`,
    app: { roles: role === null ? ['else'] : [VALUES[role]] },
  })

describe.each([null, ...ROLES])('with the role %s', (held) => {
  // A stream does not end; a client of this test waits for the end.
  const routes = SPECS.filter(({ role, isStream }) => role !== undefined && isStream !== true)

  test.each(routes)('$method $path is refused only if it needs another role', async ({ method, path, role }) => {
    const { status, headers, body } = await api.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'), {
      headers: tokenOf(held),
      ...(method !== 'get' && { json: {} }),
    })
    if (rolesIn(held).some((one) => one === role)) return expect(status).not.toBe(403)
    expect([status, body]).toEqual([403, expect.objectContaining({ code: 'forbidden', requiredRole: role })])
    expect(headers.get('ratelimit')).not.toBeNull()
  })
})

test('a refused request changes nothing', async () => {
  const json = { url: 'https://client.example/hooks', eventTypes: ['call.status'] }
  const path = '/api/v1/webhooks/subscriptions'
  const headers = { ...tokenOf('operator'), 'idempotency-key': 'one' }
  expect((await api.call('POST', path, { headers, json })).status).toBe(403)
  expect((await api.call('GET', path, { headers: tokenOf('viewer') })).body).toEqual([])
  // The refusal was not stored for the key: the same request with a higher role is carried out.
  const higher = { ...tokenOf('admin'), 'idempotency-key': 'one' }
  expect((await api.call('POST', path, { headers: higher, json })).status).toBe(201)
})

test('a caller reads its tenant, its roles and the features', async () => {
  const me = async (headers: Record<string, string>) => (await api.call('GET', '/api/v1/me', { headers })).body
  expect(await me(tokenOf('operator'))).toEqual({
    tenant: 'acme',
    subject: 'a person, operator',
    clientId: 'console',
    roles: ['viewer', 'operator'],
    features: { journal: true, simulator: true },
  })
  expect(await me(around.bearer('globex'))).toMatchObject({
    tenant: 'globex',
    subject: 'test-client',
    roles: ['viewer', 'operator', 'admin'],
  })
})

test('the simulator needs no token; with one, an operator of the tenant uses it', async () => {
  const [calls, json] = ['/simulator/v1/calls', { agentUri: 'sip:alice@acme.example', from: '+15559000' }]
  const rung = await api.call('POST', calls, { headers: tokenOf('operator'), json })
  expect(rung.status).toBe(202)
  const { callId } = rung.body as { readonly callId: string }
  const remote = (headers: Record<string, string>) =>
    api.call('POST', `${calls}/${callId}/remote`, { headers, json: { action: 'hangup' } })
  const foreign = around.bearer('globex')
  expect([(await api.call('POST', calls, { headers: foreign, json })).status, (await remote(foreign)).status]).toEqual([
    404, 404,
  ])
  expect((await remote({ authorization: 'Bearer forged' })).status).toBe(401)
  expect((await remote({})).status).toBe(202)
})
