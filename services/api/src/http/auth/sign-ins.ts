import type { Issuer, SignInClient } from './issuer.ts'

/** What a sign-in needs of an issuer that has a client for it. */
interface SignIn {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  /** The tenant of its people; absent: the person has not named it. */
  readonly name?: string
}

/** What a sign-in page, or the command line, offers. */
export interface SignInOffer {
  readonly issuers: readonly SignIn[]
  /** A person can name a further organization. */
  readonly asksOrganization: boolean
}

/** Organizations that one person can name. Bounds the cookie. */
const MAX_NAMED = 10

/**
 * A stranger learns no tenant: one issuer is offered without its name, several only to a person who has named them, unless
 * the operator wants a chooser.
 * @param named organizations that this person has named
 */
export function offeredSignIns(
  issuers: readonly Issuer[],
  client: SignInClient,
  { hasChooser, named }: { readonly hasChooser: boolean; readonly named: readonly string[] },
): SignInOffer {
  const all = signInsOf(issuers, client)
  if (hasChooser) return { issuers: all, asksOrganization: false }
  if (all.length > 1) return { issuers: all.filter(({ name }) => named.includes(name)), asksOrganization: true }
  return { issuers: all.map(({ issuer, clientId, scope }) => ({ issuer, clientId, scope })), asksOrganization: false }
}

/** The names with one more, as its issuer spells it; undefined if no organization has this name. */
export function withOrganization(
  issuers: readonly Issuer[],
  client: SignInClient,
  named: readonly string[],
  name: string,
): readonly string[] | undefined {
  const found = signInsOf(issuers, client).find((signIn) => signIn.name.toLowerCase() === name.trim().toLowerCase())
  return found && [...named.filter((other) => other !== found.name), found.name].slice(-MAX_NAMED)
}

const signInsOf = (issuers: readonly Issuer[], client: SignInClient): readonly Required<SignIn>[] =>
  issuers.flatMap(({ issuer, tenant, [client]: registered }) =>
    registered === undefined
      ? []
      : [{ issuer, clientId: registered.clientId, scope: registered.scope, name: tenant ?? 'Installation' }],
  )
