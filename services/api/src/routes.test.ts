import { AUDIT_ACTIONS } from './audit/audit-action.ts'
import type { Base } from './feature.ts'
import { openPlatform } from './platform/open-platform.ts'
import { collectRoutes, describedFeatures } from './routes.ts'
import type { State } from './state/state.ts'

const routes = collectRoutes(describedFeatures())

function pathsIn(NODE_ENV: 'production' | 'development'): string[] {
  const config = { PLATFORM: 'simulator', SIMULATOR_AGENTS: [], NODE_ENV }
  const { developmentRoutes } = openPlatform({ config } as unknown as Base, {} as State, async () => 'conflict')
  return collectRoutes({ ...describedFeatures(), development: { routes: developmentRoutes } }).map(({ path }) => path)
}

test('in production the development routes of the simulator do not exist', () => {
  expect(pathsIn('production').filter((path) => path.startsWith('/simulator'))).toEqual([])
  expect(pathsIn('development')).toContain('/simulator/v1/calls')
})

test('only the documents and the simulator can be used without a token', () => {
  const open = routes.filter(({ isPublic }) => isPublic === true)
  expect(open.map(({ path }) => path).toSorted()).toEqual([
    '/api/v1/asyncapi.json',
    '/api/v1/openapi.json',
    '/simulator/v1/agents/{agentUri}/device',
    '/simulator/v1/calls',
    '/simulator/v1/calls/{callId}/remote',
  ])
})

test('every route that needs a token names the role that it needs, and a viewer can read everything', () => {
  const closed = routes.filter(({ isPublic }) => isPublic !== true)
  expect(closed.filter(({ role }) => role === undefined).map(({ operationId }) => operationId)).toEqual([])
  const forViewers = closed.filter(({ role }) => role === 'viewer').map(({ operationId }) => operationId)
  expect(forViewers).toEqual(closed.filter(({ method }) => method === 'get').map(({ operationId }) => operationId))
})

test('with a token, only an operator uses the simulator', () => {
  const open = routes.filter(({ isPublic, role }) => isPublic === true && role !== undefined)
  expect(open.map(({ operationId, role }) => [operationId, role])).toEqual([
    ['simulateCall', 'operator'],
    ['simulateRemote', 'operator'],
    ['simulateDevice', 'operator'],
  ])
})

test('only an admin creates, changes and deletes subscriptions and rotates their secrets', () => {
  const forAdmins = routes.filter(({ role }) => role === 'admin').map(({ operationId }) => operationId)
  expect(forAdmins).toEqual([
    'createSubscription',
    'changeSubscription',
    'deleteSubscription',
    'rotateSubscriptionSecret',
  ])
})

test('each webhook route that changes or sends something names its own action in the audit log', () => {
  const changing = routes.filter(({ path, method }) => path.startsWith('/api/v1/webhooks/') && method !== 'get')
  expect(changing.length).toBeGreaterThan(3)
  const unnamed = changing.filter(({ audit }) => audit === undefined || !AUDIT_ACTIONS.includes(audit.action))
  expect(unnamed.map(({ operationId }) => operationId)).toEqual([])
  expect(new Set(changing.map(({ audit }) => audit?.action)).size).toBe(changing.length)
  expect(routes.filter(({ audit }) => audit !== undefined)).toEqual(changing)
})

test('each of them names ids from its path or from its answer', () => {
  const given = new Proxy({}, { get: (_target, name) => `the ${String(name)}` })
  for (const { operationId, audit } of routes) {
    const on = audit?.on({ params: given, made: given }) ?? {}
    for (const [name, id] of Object.entries(on)) {
      expect([operationId, name, id]).toEqual([operationId, expect.stringMatching(/Id$/), expect.stringMatching(/d$/)])
    }
    expect([operationId, Object.keys(on).length > 0]).toEqual([operationId, audit !== undefined])
  }
})
