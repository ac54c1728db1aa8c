import { bind, type Route, type RouteOf } from '../http/route.ts'

/** The route of this operation, with its dependencies. */
export function boundRoute<Deps>(routes: readonly RouteOf<Deps>[], operationId: string, deps: Deps): Route {
  const found = routes.find((route) => route.operationId === operationId)
  if (found === undefined) throw new Error(`no route ${operationId}`)
  return bind(found, deps)
}
