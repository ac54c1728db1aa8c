import { randomUUID } from 'node:crypto'
import { Agent, request, WebSocket } from 'undici'

/** The outside parties at the other end of the trunk, controlled by the test. */
export interface OutsideWorld {
  /** An outside caller dials a number of the contact center. Resolves to the channel at the caller's end. */
  call(number: string, from: string): Promise<string>
  /** The number that the called party saw, of each call that it answered. */
  readonly seen: readonly string[]
  /** All calls of the outside world, oldest first. */
  channels(): Promise<readonly { readonly id: string; readonly state: string }[]>
  hangup(channelId: string): Promise<void>
  hold(channelId: string, isHeld: boolean): Promise<void>
  /** False after Asterisk has stopped. */
  readonly isOpen: boolean
  close(): void
}

const APP = 'world'
const RING_SECONDS = '60'

export async function openOutsideWorld(url: URL, password: string): Promise<OutsideWorld> {
  const headers = { authorization: `Basic ${Buffer.from(`${APP}:${password}`).toString('base64')}` }
  const dispatcher = new Agent()
  const seen: string[] = []
  const entered = new Map<string, () => void>()
  const socket = new WebSocket(`${url.origin.replace('http', 'ws')}/ari/events?app=${APP}`, { headers })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', () => reject(new Error('the outside world has no connection to Asterisk')))
  })
  socket.addEventListener('message', ({ data }: { data: unknown }) => {
    const event = JSON.parse(String(data)) as { type: string; args?: string[]; channel?: { id: string } }
    if (event.type !== 'StasisStart') return
    const [, caller] = event.args ?? []
    if (caller !== undefined) seen.push(caller)
    entered.get(event.channel?.id ?? '')?.()
  })

  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, query = {}, body?: unknown): Promise<unknown> {
    const { statusCode, body: answer } = await request(`${url.origin}/ari${path}`, {
      method,
      query,
      dispatcher,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (statusCode >= 400) throw new Error(`${method} ${path} was answered ${statusCode} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  return {
    seen,
    async call(number, from) {
      const channelId = `world-${randomUUID()}`
      const isIn = new Promise<void>((resolve) => entered.set(channelId, resolve))
      const query = { endpoint: `PJSIP/${number}@world`, app: APP, channelId }
      await ask('POST', '/channels/create', query, { variables: { 'CONNECTEDLINE(num)': from } })
      await isIn
      await ask('POST', `/channels/${channelId}/dial`, { timeout: RING_SECONDS })
      return channelId
    },
    async channels() {
      const all = (await ask('GET', '/channels')) as { id: string; name: string; state: string; creationtime: string }[]
      return all.filter(({ name }) => name.startsWith('PJSIP/world-'))
    },
    hangup: async (channelId) => void (await ask('DELETE', `/channels/${channelId}`)),
    hold: async (channelId, isHeld) => void (await ask(isHeld ? 'POST' : 'DELETE', `/channels/${channelId}/hold`)),
    get isOpen() {
      return socket.readyState === WebSocket.OPEN
    },
    close() {
      socket.close()
      void dispatcher.destroy()
    },
  }
}
