import { type AriClient, channelPath } from '../ari/ari-client.ts'
import type { Action } from '../session/action.ts'

/** Asterisk reads it in the order of the phone's requests, and answers once it has handled the earlier ones. */
const READ_AFTER_REQUESTS = 'CHANNEL(pjsip,call-id)'

/**
 * Tells a phone how the transfer that it asked for has ended. Asterisk 22.10 reports the transfer before it can take the
 * answer, and crashes if the answer comes first.
 */
export async function tellTransfer(
  ari: Pick<AriClient, 'request'>,
  channelId: string,
  state: Extract<Action, { kind: 'transfer-progress' }>['state'],
): Promise<void> {
  const path = channelPath(channelId)
  const { status } = await ari.request('GET', `${path}/variable`, { variable: READ_AFTER_REQUESTS })
  // An error that did not wait for the phone's requests. The phone then hears nothing of its transfer.
  if (status >= 500) return
  await ari.request('POST', `${path}/transfer_progress`, { states: `channel_${state}` })
}
