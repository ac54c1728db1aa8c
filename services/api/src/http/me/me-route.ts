import { component } from '../component.ts'
import { feature } from '../feature.ts'
import { ROLES, rolesIn } from '../role.ts'
import type { RouteOf } from '../route.ts'
import { text } from '../schema-parts.ts'
import { readSignIn, type SignInDeps } from './sign-in-route.ts'

/** Parts of the service that an installation may not have. */
export interface InstalledFeatures {
  /** Events are kept with their data. */
  readonly journal: boolean
  /** The contact center is simulated, and its development routes are served. */
  readonly simulator: boolean
  readonly statistics: boolean
  /** The console is served at `/console`. */
  readonly console: boolean
}

const present = (description: string) => ({ type: 'boolean', description, examples: [true] }) as const

const features = {
  journal: present('Events are kept with their data, and can be sent again.'),
  simulator: present('The contact center is simulated, and its routes under `/simulator` are served.'),
  statistics: present('`GET /api/v1/webhooks/statistics` is served.'),
  console: present('The console is served at `/console`.'),
} satisfies Record<keyof InstalledFeatures, object>

const meSchema = component('Me', {
  type: 'object',
  description: 'The caller, as its token identifies it.',
  required: ['tenant', 'subject', 'clientId', 'roles', 'features'],
  properties: {
    tenant: {
      type: ['string', 'null'],
      description: 'The tenant whose data the caller sees; null: the installation itself.',
      examples: ['acme'],
    },
    subject: text("The token's `sub`; the client if the token has none.", 'acme-viewer'),
    clientId: text(
      "The client: the token's `azp`, `client_id` or `sub`, or `trusted-network` for a request without a token.",
      'console',
    ),
    roles: {
      type: 'array',
      description: 'The roles of the caller, the least first. A role includes the ones before it.',
      items: { type: 'string', enum: ROLES },
      examples: [['viewer', 'operator']],
    },
    features: {
      type: 'object',
      description: 'What this installation has. Later versions may add features.',
      required: Object.keys(features),
      properties: features,
    },
  },
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
