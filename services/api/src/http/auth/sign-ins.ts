import { AppError } from '@switchhook/contracts'
import { completeComponent, flag, list, text, type ValueOf } from '../schema.ts'
import type { Issuer, SignInClient } from './issuer.ts'

export const signInOfferSchema = completeComponent(
  'SignInOffer',
  'The identity providers that people can sign in with from the command line.',
  {
    issuers: list('The identity providers. Empty: none, or name your organization first.', {
      type: 'object',
      required: ['issuer', 'clientId', 'scope'],
      properties: {
        issuer: text(
          'The OpenID Connect issuer; its discovery document has the endpoints.',
          'https://login.example/v2.0',
        ),
        clientId: text('The public client of the command line at this issuer.', 'switchhook-cli'),
        scope: text('The scopes to request, separated by spaces.', 'openid offline_access api://switchhook/.default'),
        name: text('The organization. Absent: the caller has not named it.', 'acme'),
      },
    } as const),
    asksOrganization: flag('There are several organizations, which are not listed: name one in `organization`.', false),
  },
)

/** What the sign-in page of the console, or the command line, offers. */
export type SignInOffer = ValueOf<typeof signInOfferSchema>

type SignIn = SignInOffer['issuers'][number]

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

/** The names with one more, as its issuer spells it. @throws AppError `not-found` if no organization has this name */
export function withOrganization(
  issuers: readonly Issuer[],
  client: SignInClient,
  named: readonly string[],
  name: string,
): readonly string[] {
  const found = signInsOf(issuers, client).find((signIn) => signIn.name.toLowerCase() === name.trim().toLowerCase())
  if (found === undefined) throw new AppError('not-found', { detail: 'Unknown organization.' })
  return [...named.filter((other) => other !== found.name), found.name].slice(-MAX_NAMED)
}

const signInsOf = (issuers: readonly Issuer[], client: SignInClient): readonly Required<SignIn>[] =>
  issuers.flatMap(({ issuer, tenant, [client]: registered }) =>
    registered === undefined
      ? []
      : [{ issuer, clientId: registered.clientId, scope: registered.scope, name: tenant ?? 'Installation' }],
  )
