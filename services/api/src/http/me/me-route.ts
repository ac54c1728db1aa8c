import type { Issuer } from '../auth/issuer.ts'
import { offeredSignIns, signInOfferSchema, withOrganization } from '../auth/sign-ins.ts'
import { feature } from '../feature.ts'
import { ROLES, rolesIn } from '../role.ts'
import { type RouteOf, reads } from '../route.ts'
import { completeComponent, completeObject, flag, list, orNull, text } from '../schema.ts'

export interface SignInDeps {
  readonly config: { readonly AUTH_ISSUERS: readonly Issuer[]; readonly CONSOLE_CHOOSER: 'on' | 'off' }
}

export const readSignIn: RouteOf<SignInDeps, never, { readonly organization?: string }> = {
  method: 'get',
  path: '/api/v1/sign-in',
  operationId: 'readSignIn',
  tag: 'me',
  isPublic: true,
  summary: 'Read how people sign in',
  description:
    'Returns what `switchhook login` needs. Empty if the installation offers no sign-in on the command line. Needs no token.',
  query: { organization: text('The name of your organization, in upper or lower case.', 'acme') },
  responses: { 200: { description: 'The sign-ins.', body: signInOfferSchema } },
  failures: ['not-found'],
  handle: async ({ query: { organization } }, { config: { AUTH_ISSUERS, CONSOLE_CHOOSER } }) => {
    const named = organization === undefined ? [] : withOrganization(AUTH_ISSUERS, 'cli', [], organization)
    return { status: 200, body: offeredSignIns(AUTH_ISSUERS, 'cli', { hasChooser: CONSOLE_CHOOSER === 'on', named }) }
  },
}

const features = {
  journal: flag('Events are kept with their data, and can be sent again.', true),
  simulator: flag('The contact center is simulated, and its routes under `/simulator` are served.', true),
}

/** Parts of the service that an installation may not have. */
export type InstalledFeatures = Readonly<Record<keyof typeof features, boolean>>

const meSchema = completeComponent('Me', 'The caller, as its token identifies it.', {
  tenant: orNull(text('The tenant whose data the caller sees; null: the installation itself.', 'acme')),
  subject: text("The token's `sub`; the client if the token has none.", 'acme-viewer'),
  clientId: text(
    'The client that the token names in `azp`, `client_id`, `appid` or `cid`, or else its `sub`; `trusted-network` for a request without a token.',
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
  ...reads('me'),
  path: '/api/v1/me',
  operationId: 'readMe',
  summary: 'Read who you are',
  description: "Returns the caller's tenant and roles, and the features of this installation.",
  responses: { 200: { description: 'The caller.', body: meSchema } },
  handle: async ({ caller: { tenant, clientId, subject = clientId, role } }, { installed }) => ({
    status: 200,
    body: { tenant, subject, clientId, roles: rolesIn(role), features: installed },
  }),
}

export const me = feature([readMe, readSignIn], (deps: MeRouteDeps) => ({ deps }))
