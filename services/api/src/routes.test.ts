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
