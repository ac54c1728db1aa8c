import type { Route } from '../http/route.ts'
import type { CallRouteDeps } from './commands.ts'
import { createDialRoute } from './dial-route.ts'
import { createLegRoutes } from './leg-routes.ts'
import { createTransferRoute } from './transfer-route.ts'

/** The routes of voice calls. A 202 means that the command was accepted; `call.status` events report its result. */
export const createCallRoutes = (deps: CallRouteDeps): readonly Route[] => [
  createDialRoute(deps),
  ...createLegRoutes(deps),
  createTransferRoute(deps),
]
