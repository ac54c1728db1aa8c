import { AUDIT_ACTIONS } from './audit/audit-action.ts'
import { createRoutes, type RoutesDeps } from './routes.ts'

const pathsWith = (simulator: RoutesDeps['simulator']): string[] =>
  createRoutes({ simulator } as RoutesDeps).map(({ path }) => path)

test('without a simulator, or in production, its development endpoints do not exist', () => {
  expect(pathsWith(null).filter((path) => path.startsWith('/simulator'))).toEqual([])
  expect(pathsWith({} as NonNullable<RoutesDeps['simulator']>)).toContain('/simulator/v1/calls')
})

test('only what holds nobody’s data, and the simulator, can be used without a token', () => {
  const open = createRoutes({ simulator: {} } as RoutesDeps).filter(({ isPublic }) => isPublic === true)
  expect(open.map(({ path }) => path).toSorted()).toEqual([
    '/api/v1/asyncapi.json',
    '/api/v1/openapi.json',
    '/simulator/v1/agents/{agentUri}/device',
    '/simulator/v1/calls',
    '/simulator/v1/calls/{callId}/remote',
  ])
})

test('each webhook route that changes or sends something names its action in the audit log, and no two the same', () => {
  const routes = createRoutes({ simulator: {} } as RoutesDeps)
  const changing = routes.filter(({ path, method }) => path.startsWith('/api/v1/webhooks/') && method !== 'get')
  expect(changing.length).toBeGreaterThan(3)
  const unnamed = changing.filter(({ audit }) => audit === undefined || !AUDIT_ACTIONS.includes(audit.action))
  expect(unnamed.map(({ operationId }) => operationId)).toEqual([])
  expect(new Set(changing.map(({ audit }) => audit?.action)).size).toBe(changing.length)
  expect(routes.filter(({ audit }) => audit !== undefined)).toEqual(changing)
})

test('what each of them names is an id of its path, or one that its answer has', () => {
  const given = new Proxy({}, { get: (_target, name) => `the ${String(name)}` })
  for (const { operationId, audit } of createRoutes({ simulator: {} } as RoutesDeps)) {
    const on = audit?.on({ params: given, made: given }) ?? {}
    for (const [name, id] of Object.entries(on)) {
      expect([operationId, name, id]).toEqual([operationId, expect.stringMatching(/Id$/), expect.stringMatching(/d$/)])
    }
    expect([operationId, Object.keys(on).length > 0]).toEqual([operationId, audit !== undefined])
  }
})
