import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { usage } from '../failure.ts'
import type { Life } from './lifetime.ts'

/** A person who has signed in, or an application with a secret. Both keep their present token. */
export type SignIn = Partial<Life> & {
  readonly clientId: string
  readonly scope: string
  readonly accessToken?: string
} & (
    | { readonly kind: 'person'; readonly issuer: string; readonly refreshToken?: string }
    | { readonly kind: 'application'; readonly tokenUrl: string; readonly clientSecret: string }
  )

export interface Profile {
  readonly url: string
  /** Absent: requests carry no token, as trusted networks allow. */
  readonly signIn?: SignIn
}

export interface Profiles {
  readonly current: string
  readonly profiles: Readonly<Record<string, Profile>>
}

export type ProfileFile = ReturnType<typeof openProfiles>

/** What the holder of the lock may do. */
export interface ProfileWriter {
  /** Adds, replaces or (undefined) removes a profile. */
  readonly write: (name: string, profile: Profile | undefined) => Promise<void>
  readonly use: (name: string) => Promise<void>
}

export const DEFAULT_PROFILE = 'default'

/** Longer than a renewal takes. The process that holds an older lock was killed. */
const LOCK_MS = 60_000
const LOCK_AGAIN_MS = 50

function takes(lock: string): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    removeOld(lock)
    return false
  }
}

/** Two processes that both find the lock old must not both remove it: the second would remove the lock of the first. */
function removeOld(lock: string): void {
  const removal = `${lock}.removal`
  if (!isOld(lock) || !takes(removal)) return
  if (isOld(lock)) rmSync(lock, { force: true })
  rmSync(removal, { force: true })
}

function isOld(lock: string): boolean {
  const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(lock, { throwIfNoEntry: false }) ?? {}
  return Date.now() - mtimeMs > LOCK_MS
}

/** How long a file that cannot be replaced is tried again. */
const REPLACE_MS = 5_000
/** On Windows, of a file that a virus scanner, an indexer or another command reads at this moment. */
const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY']

/** The profiles of this user, in a file that only the user can read. */
export function openProfiles(env: NodeJS.ProcessEnv) {
  const path = join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'switchhook', 'profiles.json')
  const read = (): Profiles => {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: DEFAULT_PROFILE, profiles: {} }
      throw error
    }
    try {
      return JSON.parse(text) as Profiles
    } catch {
      throw usage(`${path} is not JSON: remove it and sign in again.`)
    }
  }
  const save = async (profiles: Profiles): Promise<void> => {
    // A new file that replaces the old one: a reader never sees half of it, and its mode does not depend on the old one.
    const fresh = `${path}.${process.pid}`
    writeFileSync(fresh, `${JSON.stringify(profiles, undefined, 2)}\n`, { mode: 0o600 })
    chmodSync(fresh, 0o600)
    for (const endMs = performance.now() + REPLACE_MS; ; await sleep(LOCK_AGAIN_MS)) {
      try {
        return renameSync(fresh, path)
      } catch (error) {
        // A refresh token that is not stored is lost: the provider has ended the one before it.
        if (IN_USE.includes((error as NodeJS.ErrnoException).code) && performance.now() < endMs) continue
        rmSync(fresh, { force: true })
        throw error
      }
    }
  }
  const writer: ProfileWriter = {
    write: async (name, profile) => {
      const { current, profiles } = read()
      const { [name]: _, ...others } = profiles
      if (profile !== undefined) return save({ current, profiles: { ...others, [name]: profile } })
      const next = current === name ? (Object.keys(others)[0] ?? DEFAULT_PROFILE) : current
      return save({ current: next, profiles: others })
    },
    use: async (name) => save({ ...read(), current: name }),
  }
  return {
    read,
    /**
     * For one process at a time: a renewal would otherwise undo a sign-in that another command stores meanwhile, and a
     * provider that sees a refresh token twice takes it for stolen, and ends the sign-in.
     */
    exclusively: async <T>(work: (writer: ProfileWriter) => T | Promise<T>): Promise<T> => {
      const lock = `${path}.lock`
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      while (!takes(lock)) await sleep(LOCK_AGAIN_MS)
      const release = (): void => rmSync(lock, { force: true })
      // Ctrl+C ends the process before the work ends.
      process.once('exit', release)
      try {
        return await work(writer)
      } finally {
        process.off('exit', release)
        release()
      }
    },
  }
}
