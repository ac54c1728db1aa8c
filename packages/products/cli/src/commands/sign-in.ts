import { createClient } from '@switchhook/client'
import { type Context, command, type GivenOf } from '../command.ts'
import { usage } from '../failure.ts'
import { openBrowser } from '../session/browser.ts'
import {
  applicationScope,
  chosenIn,
  readOffer,
  renew,
  revoke,
  tokenUrlOf,
  withBrowser,
  withDevice,
} from '../session/openid.ts'
import type { SignIn } from '../session/profiles.ts'

const LOGIN_OPTIONS = [
  ['--organization <name>', 'your organization, if the installation serves several'],
  ['--device', 'sign in with a browser on another device'],
  ['--client-id <id>', 'sign in as an application'],
  ['--secret-stdin', 'its secret comes from stdin'],
  ['--scope <scope>', 'request this scope'],
  ['--token-url <url>', "the application's token endpoint, if the installation names no issuer"],
] as const

export const login = command({
  name: 'login',
  summary: 'sign in to an installation, and keep it as a profile',
  args: [['[url]', 'its address, such as https://switchhook.example.com']],
  options: LOGIN_OPTIONS,
  run: async (context, [named], options) => {
    const { session, profiles, out } = context
    const url = (named ?? session.url).replace(/\/+$/, '')
    const signIn = await signInTo(url, context, options)
    const token = signIn.accessToken ?? ''
    const me = await createClient({ baseUrl: url, auth: async () => token }).me.read()
    // Not before: an address or a token that does not work would replace a profile that does.
    await profiles.exclusively(async ({ write, use }) => {
      await write(session.profile, { url, signIn })
      await use(session.profile)
    })
    const { tenant, subject, roles } = me
    out.record(me, { url, profile: session.profile, tenant, subject, roles: roles.join(', ') })
  },
})

async function signInTo(url: string, context: Context, options: GivenOf<typeof LOGIN_OPTIONS>): Promise<SignIn> {
  const { organization, device, clientId, secretStdin, scope, tokenUrl } = options
  if ((clientId === undefined) !== (secretStdin === undefined)) {
    throw usage('An application needs both --client-id and --secret-stdin.')
  }
  if (tokenUrl !== undefined && !URL.canParse(tokenUrl)) throw usage('--token-url must be an https address.')
  if (clientId !== undefined) {
    const isComplete = tokenUrl !== undefined && scope !== undefined
    const offered = isComplete ? undefined : chosenIn(await readOffer(url, organization), organization)
    const clientSecret = (await context.readInput('Client secret: ')).trim()
    if (clientSecret === '') throw usage('There is no secret on stdin.')
    return renew({
      kind: 'application',
      clientId,
      clientSecret,
      tokenUrl: tokenUrl ?? (await tokenUrlOf(offered?.issuer ?? '', clientId)),
      scope: scope ?? applicationScope(offered?.scope ?? ''),
    })
  }
  const offered = chosenIn(await readOffer(url, organization), organization)
  const provider = { ...offered, scope: scope ?? offered.scope }
  const { out } = context
  if (device) {
    return withDevice(provider, (address, code) => out.note(`Open ${address} on any device and enter the code ${code}`))
  }
  return withBrowser(provider, (address) => {
    out.note(`Sign in with your browser:\n${address}`)
    if (process.stderr.isTTY) openBrowser(address)
  })
}

export const logout = command({
  name: 'logout',
  summary: 'end the sign-in and remove the profile',
  run: async ({ session, profiles, out }) => {
    const stored = await profiles.exclusively(async ({ write }) => {
      const found = profiles.read().profiles[session.profile]
      if (found === undefined) throw usage(`There is no profile "${session.profile}".`)
      await write(session.profile, undefined)
      return found
    })
    out.note(`The profile "${session.profile}" is removed.`)
    if (stored.signIn !== undefined) await revoke(stored.signIn)
  },
})

export const profile = command({
  name: 'profile',
  summary: 'list the profiles, or use another one from now on',
  args: [['[name]', 'the profile to use']],
  run: async ({ session, profiles, out }, [name]) => {
    if (name !== undefined) {
      await profiles.exclusively(async ({ use }) => {
        if (profiles.read().profiles[name] === undefined) throw usage(`There is no profile "${name}".`)
        await use(name)
      })
    }
    const rows = Object.entries(profiles.read().profiles).map(([each, { url, signIn }]) => ({
      profile: each,
      isUsed: each === (name ?? session.profile),
      url,
      clientId: signIn?.clientId ?? null,
      kind: signIn?.kind ?? 'none',
    }))
    out.list(rows, [
      { title: 'USED', of: ({ isUsed }) => (isUsed ? '*' : '') },
      { title: 'PROFILE', of: (row) => row.profile },
      { title: 'SIGN-IN', of: ({ kind }) => kind },
      { title: 'CLIENT', of: ({ clientId }) => clientId },
      { title: 'URL', of: ({ url }) => url },
    ])
  },
})
