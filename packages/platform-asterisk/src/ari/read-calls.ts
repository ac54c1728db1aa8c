import { PlatformUnavailable } from '@switchhook/platform'
import { answerWithin } from '@switchhook/runtime'
import { type AriClient, channelPath } from './ari-client.ts'
import type { AriBridge, AriChannel } from './ari-model.ts'

/** Asterisk's channels and bridges, those of other applications included. */
export type Calls = Awaited<ReturnType<typeof readCalls>>

type Reading = Pick<AriClient, 'request'>

/** @throws AriUnavailable, or Error if Asterisk answers anything but 200 */
export async function readList(ari: Reading, path: string): Promise<unknown> {
  const { status, body } = await ari.request('GET', path)
  if (status !== 200) throw new Error(`Asterisk answered ${status} to GET ${path}`)
  return body
}

/** Reads the channels before the bridges. @throws as `readList` */
export async function readCalls(ari: Reading) {
  const channels = (await readList(ari, '/channels')) as readonly AriChannel[]
  const bridges = (await readList(ari, '/bridges')) as readonly AriBridge[]
  return { channels, bridges }
}

/**
 * Whether a channel that Asterisk lists exists. Asterisk 22.10 lists for ever the channel of a phone that was unplugged during
 * a transfer of its own: no event reports its end, and no request finds it.
 */
export async function hasChannel(ari: Reading, id: string): Promise<boolean> {
  // A function of the dialplan: for a variable, 404 may also mean that it is not set.
  const { status } = await ari.request('GET', `${channelPath(id)}/variable`, { variable: 'CHANNEL(state)' })
  return status !== 404
}

/** The value of a variable or function of the dialplan; undefined: Asterisk does not find the channel or the variable. */
export async function readVariable(ari: Reading, id: string, variable: string): Promise<string | undefined> {
  const { status, body } = await ari.request('GET', `${channelPath(id)}/variable`, { variable })
  return status === 200 ? (((body ?? {}) as { readonly value?: string }).value ?? '') : undefined
}

/** Asterisk answers once it has handled the earlier requests of the phone. */
const HOLD_KNOWN_WITHIN_MS = 1_000

/**
 * Whether the party of a channel has pressed hold; undefined: Asterisk does not say it in time. One phone that hangs must not
 * stop the comparison of its session, or a call to its line.
 */
export async function isHeldAtPhone(ari: Reading, id: string): Promise<boolean | undefined> {
  const asked = readVariable(ari, id, 'CHANNEL(rtp,hold)')
  const value = await answerWithin(HOLD_KNOWN_WITHIN_MS, asked, 'Asterisk does not say what a phone holds').catch(
    () => undefined,
  )
  return value === undefined ? undefined : value === '1'
}

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
export async function reach(ari: Reading): Promise<void> {
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
