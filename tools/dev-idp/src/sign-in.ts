import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type Provider from 'oidc-provider'
import { errors } from 'oidc-provider'
import type { DevPerson } from './people.ts'

/** Path of the sign-in page below the issuer, followed by the id of the interaction. */
export const SIGN_IN_PATH = '/sign-in/'

/** Asks a person for name and password, and returns to the provider once they are right. */
export async function handleSignIn(
  provider: Provider,
  { tenant, people }: { readonly tenant: string; readonly people: readonly DevPerson[] },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = (status: number, problem = ''): void => {
    const page = signInPage(tenant, people, `/${tenant}${request.url ?? ''}`, problem)
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }).end(page)
  }
  try {
    await provider.interactionDetails(request, response)
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error
    return answer(400, 'This sign-in has expired. Return to the console and sign in again.')
  }
  if (request.method !== 'POST') return answer(200)
  const form = new URLSearchParams(await text(request))
  const person = people.find(({ name }) => name === form.get('name') && name === form.get('password'))
  if (person === undefined) return answer(401, 'The name or the password is wrong.')
  await provider.interactionFinished(request, response, { login: { accountId: person.name } })
}

/** The page that asks for a name and a password. Names are listed, because this provider is for development only. */
function signInPage(tenant: string, people: readonly DevPerson[], action: string, problem: string): string {
  const names = people.map(({ name }) => `<li><code>${escape(name)}</code></li>`).join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to ${escape(tenant)}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 22rem; margin: 12vh auto; padding: 0 1rem }
form { display: grid; gap: .75rem }
label { display: grid; gap: .25rem }
input, button { font: inherit; padding: .5rem .6rem }
[role=alert] { color: light-dark(#b3261e, #ff8a80) }
</style>
</head>
<body>
<main>
<h1>Sign in to ${escape(tenant)}</h1>
${problem === '' ? '' : `<p role="alert">${escape(problem)}</p>`}
<form method="post" action="${escape(action)}">
<label>Name<input name="name" autocomplete="username" required autofocus></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>
<p>For development only. The password is the name:</p>
<ul>${names}</ul>
</main>
</body>
</html>
`
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
