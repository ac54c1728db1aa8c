import { createClient, type Schemas, SwitchhookError } from '@switchhook/client'
import { CliError, Exit, usage } from '../exit.ts'
import type { Provider } from './openid.ts'

export type SignInOffer = Schemas['SignInOffer']

/** What an installation offers to people. @throws CliError if it is older than this command, or does not know the organization */
export async function readOffer(url: string, organization: string | undefined): Promise<SignInOffer> {
  try {
    return await createClient({ baseUrl: url }).me.signIn(organization === undefined ? {} : { organization })
  } catch (error) {
    if (!(error instanceof SwitchhookError) || error.status !== 404) throw error
    throw organization === undefined
      ? new CliError(
          Exit.notFound,
          `${url} is older than this command and offers no sign-in: use --client-id, --token-url and --scope, or set SWITCHHOOK_TOKEN.`,
        )
      : new CliError(Exit.notFound, `No organization ${organization} signs in at ${url}. Check its spelling.`)
  }
}

/** The identity provider to use. @throws CliError if the offer leaves it open */
export function chosenIn({ issuers, asksOrganization }: SignInOffer, organization: string | undefined): Provider {
  const matching =
    organization === undefined || issuers.length < 2
      ? issuers
      : issuers.filter(({ name }) => name?.toLowerCase() === organization.trim().toLowerCase())
  const [found, second] = matching
  if (found !== undefined && second === undefined) {
    const { issuer, clientId, scope } = found
    return { issuer, clientId, scope }
  }
  const names = issuers.flatMap(({ name }) => name ?? [])
  if (asksOrganization || second !== undefined || names.length > 0) {
    throw usage(`Name your organization: --organization <name>${names.length > 0 ? ` (${names.join(', ')})` : ''}.`)
  }
  throw new CliError(
    Exit.signIn,
    'This installation has no sign-in for people: use --client-id, --token-url and --scope, or ask its operator for "cli" in AUTH_ISSUERS.',
  )
}

const FOR_PEOPLE = new Set(['openid', 'profile', 'email', 'offline_access'])

/** Applications request the API alone. */
export const applicationScope = (scope: string): string =>
  scope
    .split(' ')
    .filter((one) => !FOR_PEOPLE.has(one))
    .join(' ')
