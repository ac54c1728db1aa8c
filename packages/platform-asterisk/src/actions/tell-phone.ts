import { answerWithin } from '@switchhook/runtime'
import { type AriClient, channelPath } from '../ari/ari-client.ts'
import type { AriChannel } from '../ari/ari-model.ts'
import type { AsteriskSettings } from '../asterisk-config.ts'
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

/**
 * Sends a ringing or held phone a NOTIFY with `Event: talk`, which makes it answer or resume. This needs the manager
 * interface; ARI cannot send it. Only the channel's next event proves that the phone obeyed.
 */
export function createTalk(ari: AriClient, login: AsteriskSettings['manager']): (channelId: string) => Promise<void> {
  let cookie: string | null = null

  async function logIn({ user, password }: NonNullable<typeof login>): Promise<void> {
    const answer = await ari.manager({ action: 'login', username: user, secret: password }, null)
    if (!answer.text.includes('Success')) throw new Error('Asterisk refused the login of its manager interface')
    cookie = answer.cookie
  }

  return async (channelId) => {
    if (login === null) return
    const { status, body } = await ari.request('GET', channelPath(channelId))
    if (status !== 200) return
    const notify = { action: 'PJSIPNotify', channel: (body as AriChannel).name, variable: 'Event=talk' }
    if (cookie === null) await logIn(login)
    const first = await ari.manager(notify, cookie)
    if (first.text.includes('Success')) return
    // The login has expired, or Asterisk was restarted.
    await logIn(login)
    await ari.manager(notify, cookie)
  }
}
