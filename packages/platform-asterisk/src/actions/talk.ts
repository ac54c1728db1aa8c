import { type AriClient, channelPath } from '../ari/ari-client.ts'
import type { AriChannel } from '../ari/ari-model.ts'
import type { AsteriskSettings } from '../asterisk-config.ts'

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
