import { feature } from '../feature.ts'
import { ROLES, rolesIn } from '../role.ts'
import type { RouteOf } from '../route.ts'
import { completeComponent, completeObject, flag, list, orNull, text } from '../schema-parts.ts'
import { readSignIn, type SignInDeps } from './sign-in-route.ts'

const features = {
  journal: flag('Events are kept with their data, and can be sent again.', true),
  simulator: flag('The contact center is simulated, and its routes under `/simulator` are served.', true),
  statistics: flag('`GET /api/v1/webhooks/statistics` is served.', true),
  console: flag('The console is served at `/console`.', true),
}

/** Parts of the service that an installation may not have. */
export type InstalledFeatures = Readonly<Record<keyof typeof features, boolean>>

const meSchema = completeComponent('Me', 'The caller, as its token identifies it.', {
  tenant: orNull(text('The tenant whose data the caller sees; null: the installation itself.', 'acme')),
  subject: text("The token's `sub`; the client if the token has none.", 'acme-viewer'),
  clientId: text(
    "The client: the token's `azp`, `client_id` or `sub`, or `trusted-network` for a request without a token.",
    'console',
  ),
  roles: list(
    'The roles of the caller, the least first. A role includes the ones before it.',
    { type: 'string', enum: ROLES },
    { examples: [['viewer', 'operator']] },
  ),
  features: completeObject('What this installation has. Later versions may add features.', features),
})

interface MeRouteDeps extends SignInDeps {
  readonly installed: InstalledFeatures
}

const readMe: RouteOf<MeRouteDeps> = {
  method: 'get',
  path: '/api/v1/me',
  operationId: 'readMe',
  tag: 'me',
  role: 'viewer',
  summary: 'Read who you are',
  description: "Returns the caller's tenant and roles, and the features of this installation.",
  responses: { 200: { description: 'The caller.', body: meSchema } },
  failures: [],
  handle: async ({ caller: { tenant, clientId, subject = clientId, role } }, { installed }) => ({
    status: 200,
    body: { tenant, subject, clientId, roles: rolesIn(role), features: installed },
  }),
}

export const me = feature([readMe, readSignIn], ({ installed, config }: MeRouteDeps) => ({
  deps: { installed, config },
}))
