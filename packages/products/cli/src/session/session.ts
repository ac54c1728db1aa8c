import { isDeepStrictEqual } from 'node:util'
import type { Auth } from '@switchhook/client'
import { usage } from '../failure.ts'
import { isFresh } from './lifetime.ts'
import { DEFAULT_PROFILE, type Profile, type ProfileFile, type ProfileWriter, type SignIn } from './profiles.ts'

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
    auth:
      token !== undefined ? async () => token : hasSignIn ? authOf(profile, stored.url, profiles, renew) : undefined,
  }
}

const sameAddress = (url: string): string => url.replace(/\/+$/, '').toLowerCase()

/** Serves the stored token while it is valid, and stores each new one for the next command. */
function authOf(name: string, url: string, profiles: ProfileFile, renew: Renew): Auth {
  let renewing: Promise<string> | undefined
  const changed = (): Error => usage(`The profile "${name}" was changed meanwhile: run the command again.`)
  /** Read each time: another command may have renewed the token, signed in to another installation, or signed out. */
  const present = (): Profile | undefined => {
    const profile = profiles.read().profiles[name]
    if (profile !== undefined && sameAddress(profile.url) !== sameAddress(url)) throw changed()
    return profile
  }
  const stored = (rejected: string | undefined): string | undefined => {
    const signIn = present()?.signIn
    if (signIn === undefined || signIn.accessToken === rejected) return undefined
    const { accessToken, expiresAtMs = 0, renewAtMs = 0 } = signIn
    const canRenew = signIn.kind === 'application' || signIn.refreshToken !== undefined
    return isFresh({ expiresAtMs, renewAtMs }, canRenew) ? accessToken : undefined
  }
  const fresh = async (rejected: string | undefined, { write }: ProfileWriter): Promise<string> => {
    const already = stored(rejected)
    if (already !== undefined) return already
    const profile = present()
    if (profile?.signIn === undefined) throw usage(`The profile "${name}" was signed out meanwhile.`)
    const signIn = await renew(profile.signIn)
    // The lock ends after a minute, which a machine may sleep through.
    if (!isDeepStrictEqual(present(), profile)) throw changed()
    await write(name, { ...profile, signIn })
    return signIn.accessToken ?? ''
  }
  return async (rejected) => {
    const already = stored(rejected)
    if (already !== undefined) return already
    renewing ??= profiles
      .exclusively((writer) => fresh(rejected, writer))
      .finally(() => {
        renewing = undefined
      })
    return renewing
  }
}
