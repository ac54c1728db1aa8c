import { PlatformUnavailable } from '../../platform.ts'
import type { AriClient } from './ari-client.ts'

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'Asterisk refused the credentials (401): check the user and the password of ari.conf',
  403: 'Asterisk refused this machine (403): check the ACL of the user in ari.conf',
  404: 'Asterisk has no REST interface at this address (404): check enabled in ari.conf',
}

/**
 * Asks Asterisk whether it can be reached. It runs before anything is stored, so that Asterisk certainly has not received a
 * command that fails here.
 * @throws PlatformUnavailable with the reason
 */
export const createReach = (ari: Pick<AriClient, 'request'>) => async (): Promise<void> => {
  const { status } = await ari.request('GET', '/asterisk/ping').catch((cause: unknown) => {
    throw new PlatformUnavailable(`Asterisk cannot be reached: ${reasonOf(cause)}`, { cause })
  })
  if (status !== 200) throw new PlatformUnavailable(REFUSALS[status] ?? `Asterisk answered ${status} to a ping`)
}

/** The innermost cause: a code such as ECONNREFUSED or SELF_SIGNED_CERT_IN_CHAIN, if it has one. */
function reasonOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: unknown; message?: unknown }
  return cause === undefined ? String(code ?? message) : reasonOf(cause)
}
