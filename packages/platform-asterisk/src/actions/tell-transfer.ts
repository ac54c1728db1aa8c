import { answerWithin } from '@switchhook/runtime'
import { type AriClient, channelPath } from '../ari/ari-client.ts'
import type { Action } from '../session/action.ts'

/** Asterisk reads it in the order of the phone's requests, and answers once it has handled the earlier ones. */
const READ_AFTER_REQUESTS = 'CHANNEL(pjsip,call-id)'

/** Until then the parties of the transfer wait. */
const TOLD_WITHIN_MS = 1_000

/**
 * Tells a phone how the transfer that it asked for has ended. Asterisk 22.10 reports the transfer before it can take the
 * answer, and crashes if the answer comes first.
 * @throws AriUnavailable, NotAnswered or Error. The phone then hears late of its transfer, or never.
 */
export function tellTransfer(
  ari: Pick<AriClient, 'request'>,
  channelId: string,
  state: Extract<Action, { kind: 'transfer-progress' }>['state'],
): Promise<void> {
  const path = channelPath(channelId)
  async function tell(): Promise<void> {
    const { status } = await ari.request('GET', `${path}/variable`, { variable: READ_AFTER_REQUESTS })
    // It did not wait for the phone's requests.
    if (status >= 500) throw new Error(`Asterisk answered ${status} to a question about a phone`)
    await ari.request('POST', `${path}/transfer_progress`, { states: `channel_${state}` })
  }
  return answerWithin(TOLD_WITHIN_MS, tell(), 'Asterisk does not handle the requests of a phone')
}
