import type { Auth } from '@switchhook/client'
import { usage } from '../failure.ts'
import { isFresh } from './lifetime.ts'
import { DEFAULT_PROFILE, type ProfileFile, type SignIn } from './profiles.ts'

export type Session = ReturnType<typeof openSession>

/** Gets another token. @throws SignInFailed if a person has to sign in again */
export type Renew = (signIn: SignIn) => Promise<SignIn>

/** Which installation, and as whom: from the environment and the profile. `SWITCHHOOK_URL` and `SWITCHHOOK_TOKEN` come first. */
export function openSession(
  { env, profiles, named }: { env: NodeJS.ProcessEnv; profiles: ProfileFile; named: string | undefined },
  renew: Renew,
) {
  const { current, profiles: all } = profiles.read()
  const chosen = named ?? (env['SWITCHHOOK_PROFILE'] || undefined)
  const profile = chosen ?? current ?? DEFAULT_PROFILE
  const stored = all[profile]
  const token = env['SWITCHHOOK_TOKEN']?.trim() || undefined
  // The error of an invalid header would show the token.
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw usage('SWITCHHOOK_TOKEN is not a token: it contains spaces or line breaks.')
  const own = env['SWITCHHOOK_URL'] || undefined
  // A token of one installation is never sent to another.
  const isOther = own !== undefined && stored !== undefined && sameAddress(own) !== sameAddress(stored.url)
  const hasSignIn = !isOther && stored?.signIn !== undefined
  const url = own ?? stored?.url
  return {
    profile,
    /** @throws CliError if no installation is named */
    get url(): string {
      if (url !== undefined) return url
      throw usage(
        chosen !== undefined && stored === undefined
          ? `There is no profile "${chosen}": switchhook profile lists them.`
          : 'No installation is selected: sign in with "switchhook login <url>", or set SWITCHHOOK_URL.',
      )
    },
    /** Undefined: requests carry no token. */
    auth: token !== undefined ? async () => token : hasSignIn ? authOf(profile, profiles, renew) : undefined,
  }
}

const sameAddress = (url: string): string => url.replace(/\/+$/, '').toLowerCase()

/** Serves the stored token while it is valid, and stores each new one for the next command. */
function authOf(name: string, profiles: ProfileFile, renew: Renew): Auth {
  let renewing: Promise<string> | undefined
  /** Read each time: another command may have renewed it. */
  const stored = (rejected: string | undefined): string | undefined => {
    const signIn = profiles.read().profiles[name]?.signIn
    if (signIn === undefined || signIn.accessToken === rejected) return undefined
    const { accessToken, expiresAtMs = 0, renewAtMs = 0 } = signIn
    const canRenew = signIn.kind === 'application' || signIn.refreshToken !== undefined
    return isFresh({ expiresAtMs, renewAtMs }, canRenew) ? accessToken : undefined
  }
  const fresh = async (rejected: string | undefined): Promise<string> => {
    const already = stored(rejected)
    if (already !== undefined) return already
    const profile = profiles.read().profiles[name]
    if (profile?.signIn === undefined) throw usage(`The profile "${name}" was signed out meanwhile.`)
    const signIn = await renew(profile.signIn)
    profiles.write(name, { ...profile, signIn })
    return signIn.accessToken ?? ''
  }
  return async (rejected) => {
    const present = stored(rejected)
    if (present !== undefined) return present
    renewing ??= profiles
      .exclusively(() => fresh(rejected))
      .finally(() => {
        renewing = undefined
      })
    return renewing
  }
}
