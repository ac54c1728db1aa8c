import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type Provider from 'oidc-provider'
import { errors } from 'oidc-provider'
import type { DevPerson } from './people.ts'
import { signInPage } from './sign-in-page.ts'

/** Path of the sign-in page below the issuer, followed by the id of the interaction. */
export const SIGN_IN_PATH = '/sign-in/'

/** Asks a person for name and password, and returns to the provider once they are right. */
export async function handleSignIn(
  provider: Provider,
  { tenant, people }: { readonly tenant: string; readonly people: readonly DevPerson[] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = (status: number, problem?: string): void => {
    const page = signInPage({
      tenant,
      people,
      action: `/${tenant}${request.url ?? ''}`,
      ...(problem !== undefined && { problem }),
    })
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(page)
  }
  try {
    await provider.interactionDetails(request, response)
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error
    answer(400, 'This sign-in has expired. Return to the console and sign in again.')
    return
  }
  if (request.method !== 'POST') return answer(200)
  const form = new URLSearchParams(await text(request))
  const person = people.find(({ name }) => name === form.get('name') && name === form.get('password'))
  if (person === undefined) return answer(401, 'The name or the password is wrong.')
  await provider.interactionFinished(request, response, { login: { accountId: person.name } })
}
