import { createClient, NoAnswer, SignInFailed, SwitchhookError } from '@switchhook/client'
import { accessToken, SignedOut } from '../session/session.ts'

export const client = createClient({
  // Relative to the console, so that a path prefix stays.
  baseUrl: new URL('..', document.baseURI),
  auth: async (rejected) => {
    try {
      return await accessToken(rejected)
    } catch (cause) {
      if (cause instanceof SignedOut) throw cause
      throw new SignInFailed('The identity provider does not answer.', { cause })
    }
  },
  // Queries are repeated by their cache, and a person repeats a command.
  maxRetries: 0,
})

/** The API or the identity provider did not answer. It may answer later. */
export const isAway = (error: unknown): boolean => error instanceof NoAnswer || error instanceof SignInFailed

const isRefusal = (status: number) => (error: unknown) => error instanceof SwitchhookError && error.status === status
export const isForbidden = isRefusal(403)
export const isMissing = isRefusal(404)
