import type { Schemas } from '@switchhook/client'
import { createStore } from '../store.ts'
import { isFresh } from './lifetime.ts'
import * as oauth from './oauth.ts'
import { ownsSession } from './owner.ts'

interface Session extends oauth.Tokens {
  readonly kind: 'signed-in'
  /** Of one sign-in, the same after each renewal. */
  readonly id: string
  readonly signIn: oauth.SignIn
}

export interface SignedOutState {
  readonly kind: 'signed-out'
  /** `expired`: the API or the issuer rejected the token. `withdrawn`: the service does not offer the issuer any more. */
  readonly reason: 'none' | 'expired' | 'withdrawn' | 'signed-out' | 'failed'
  readonly detail?: string
}

/** Session storage: it ends with the tab, and other sites cannot read it. A duplicated tab gets a copy. */
const SESSION_KEY = 'switchhook.session'
/** The person has signed out in this tab. */
const SIGNED_OUT_KEY = 'switchhook.signed-out'

let refreshing: Promise<string> | undefined

export const sessionStore = createStore<Session | SignedOutState>(
  readSession() ?? {
    kind: 'signed-out',
    reason: sessionStorage.getItem(SIGNED_OUT_KEY) === null ? 'none' : 'signed-out',
  },
)

/** Ends when it is known whether this tab may renew its session. */
let claimed = claim()

/** A copy forgets the refresh token, and is signed in until its access token expires. */
async function claim(): Promise<void> {
  const session = sessionStore.get()
  if (session.kind !== 'signed-in' || (await ownsSession(session.id))) return
  const present = sessionStore.get()
  if (present.kind !== 'signed-in' || present.id !== session.id) return
  const { refreshToken: _, ...copy } = present
  begin(copy)
}

/** Ends the sign-in if the page was opened by the issuer's redirect. Removes the code from the address immediately. */
export async function resumeSignIn(): Promise<void> {
  const parameters = new URLSearchParams(location.search)
  if (!parameters.has('state') || (!parameters.has('code') && !parameters.has('error'))) return
  const url = new URL(location.href)
  history.replaceState(null, '', root())
  try {
    const { signIn, tokens, returnTo } = await oauth.completeSignIn(url)
    begin({ ...tokens, kind: 'signed-in', id: crypto.randomUUID(), signIn })
    claimed = claim()
    history.replaceState(null, '', returnTo)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    // Anyone can lead a person to an invented redirect. It must not look as if the session had ended.
    if (sessionStore.get().kind !== 'signed-in') sessionStore.set({ kind: 'signed-out', reason: 'failed', detail })
  }
}

/** Leaves the page for the issuer's sign-in page. The person returns to the current address. */
export async function signIn(entry: oauth.SignIn): Promise<void> {
  // An issuer without a sign-out may still have a session: it asks for the person again.
  const chooseAgain = sessionStorage.getItem(SIGNED_OUT_KEY) !== null
  sessionStorage.removeItem(SIGNED_OUT_KEY)
  location.assign(await oauth.requestSignIn(entry, root(), chooseAgain))
}

/** Ends the session: here immediately, then at the issuer, whose sign-out page returns to the console. */
export async function signOut(): Promise<void> {
  const ended = sessionStore.get()
  sessionStorage.setItem(SIGNED_OUT_KEY, '1')
  end('signed-out')
  if (ended.kind !== 'signed-in') return
  try {
    const address = await oauth.endAtIssuer(ended.signIn, ended, root())
    if (address !== undefined) location.assign(address)
  } catch {
    // The issuer cannot be reached. The person is signed out of the console.
  }
}

/** Several callers share one refresh. @throws SignedOut; Error if the service or the issuer cannot be reached */
export async function accessToken(rejected?: string): Promise<string> {
  const present = freshToken(rejected)
  if (present !== undefined) return present
  refreshing ??= claimed
    .then(() => freshToken(rejected) ?? renew())
    .finally(() => {
      refreshing = undefined
    })
  return refreshing
}

function freshToken(rejected: string | undefined): string | undefined {
  const session = signedIn()
  const isUsable = session.accessToken !== rejected && isFresh(session, session.refreshToken !== undefined)
  return isUsable ? session.accessToken : undefined
}

function signedIn(): Session {
  const session = sessionStore.get()
  if (session.kind !== 'signed-in') throw new SignedOut()
  return session
}

export class SignedOut extends Error {
  override readonly name = 'SignedOut'
  constructor() {
    super('You are signed out.')
  }
}

async function renew(): Promise<string> {
  const from = signedIn()
  if (from.refreshToken === undefined) throw end('expired')
  // First, because the policy of this page forbids requests to an issuer that was not offered when it was loaded.
  const { issuers } = await readOffer()
  if (sessionStore.get() === from && !issuers.some(({ issuer }) => issuer === from.signIn.issuer))
    throw end('withdrawn', from.signIn.issuer)
  const tokens = await oauth.refreshTokens(from.signIn, from.refreshToken)
  if (sessionStore.get() !== from) {
    // The person has signed out meanwhile.
    if (tokens !== undefined) await oauth.revokeTokens(from.signIn, tokens)
    throw new SignedOut()
  }
  if (tokens === undefined) throw end('expired')
  begin({ ...from, ...tokens })
  return tokens.accessToken
}

function begin(next: Session): void {
  sessionStorage.setItem(SESSION_KEY, JSON.stringify(next))
  sessionStore.set(next)
}

function end(reason: SignedOutState['reason'], detail?: string): SignedOut {
  sessionStorage.removeItem(SESSION_KEY)
  sessionStore.set({ kind: 'signed-out', reason, ...(detail !== undefined && { detail }) })
  return new SignedOut()
}

function readSession(): Session | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(SESSION_KEY) ?? '') as Omit<Session, 'id'> & {
      readonly id?: string
    }
    // Earlier versions stored no id. They stored no `renewAtMs` either, so the first request renews, and stores the id.
    return { ...stored, kind: 'signed-in', id: stored.id ?? crypto.randomUUID() }
  } catch {
    return undefined
  }
}

/** The address of the console's root, which is its redirect URI. */
const root = (): string => document.baseURI

/** What the sign-in page offers. `config.json` has the form of the API's offer to the command line. */
export type Offer = Schemas['SignInOffer']

const offerAddress = (query = ''): URL => new URL(`config.json${query}`, document.baseURI)

/** @throws if the service does not answer */
export async function readOffer(signal?: AbortSignal): Promise<Offer> {
  const response = await fetch(offerAddress(), { signal: signal ?? null })
  if (!response.ok) throw new Error(`config.json: ${response.status}`)
  return (await response.json()) as Offer
}

/**
 * Returns whether the service knows the organization, and then offers its issuer to this browser. The page must be loaded
 * again: its policy does not allow requests to that issuer yet. @throws if the service does not answer
 */
export async function nameOrganization(name: string): Promise<boolean> {
  const response = await fetch(offerAddress(`?${new URLSearchParams({ organization: name }).toString()}`))
  if (!response.ok && response.status !== 404) throw new Error(`config.json: ${response.status}`)
  return response.ok
}
