import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request, WebSocket } from 'undici'
import { opened } from './opened.ts'

interface Listed {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly creationtime: string
}

interface Event {
  readonly type: string
  readonly args?: readonly string[]
  readonly channel?: { readonly id: string; readonly name: string }
  readonly tech_cause?: number
}

export type OutsideWorld = Awaited<ReturnType<typeof openOutsideWorld>>

const APP = 'world'
const RING_SECONDS = '60'
const ANSWERS_WITHIN_MS = 5_000
const RECORDED_MS = 200
/** Less than the five seconds after which the adapter repairs a silence. */
const RECORDED_WITHIN_MS = 4_000
/** Of a WAV file. */
const HEADER_BYTES = 44
const LOUDEST = 32_768

/** The outside parties at the other end of the trunk, controlled by the test. */
export async function openOutsideWorld(url: URL, password: string) {
  const headers = { authorization: `Basic ${Buffer.from(`${APP}:${password}`).toString('base64')}` }
  const dispatcher = new Agent({ headersTimeout: ANSWERS_WITHIN_MS })
  const seen: string[] = []
  const entered = new Map<string, () => void>()
  const ends = new Map<string, number>()
  const created: string[] = []
  const events = `${url.origin.replace('http', 'ws')}/ari/events?app=${APP}&subscribeAll=true`
  const socket = new WebSocket(events, { headers })
  await opened(socket, 'the outside world')
  socket.addEventListener('message', ({ data }: { data: unknown }) => {
    const event = JSON.parse(String(data)) as Event
    if (event.type === 'ChannelCreated') created.push(event.channel?.name ?? '')
    if (event.type === 'ChannelDestroyed') ends.set(event.channel?.id ?? '', event.tech_cause ?? 0)
    if (event.type !== 'StasisStart') return
    const [, caller, presentation = ''] = event.args ?? []
    if (caller !== undefined) seen.push(presentation.startsWith('prohib') ? 'anonymous' : caller)
    entered.get(event.channel?.id ?? '')?.()
  })

  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, query = {}, body?: unknown): Promise<unknown> {
    const isFile = path.endsWith('/file')
    const { statusCode, body: answer } = await request(`${url.origin}/ari${path}`, {
      method,
      query,
      dispatcher,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (isFile && statusCode === 200) return Buffer.from(await answer.arrayBuffer())
    const text = await answer.text()
    if (statusCode >= 400) throw new Error(`${method} ${path} was answered ${statusCode} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  /** Oldest first. */
  const listed = async (prefix: string): Promise<readonly Listed[]> =>
    ((await ask('GET', '/channels')) as Listed[])
      .filter(({ name }) => name.startsWith(prefix))
      .toSorted((a, b) => a.creationtime.localeCompare(b.creationtime))

  const entersApp = (channelId: string): Promise<void> =>
    new Promise<void>((resolve) => entered.set(channelId, resolve)).then(() => void entered.delete(channelId))

  /** The samples of 200 ms of the audio that Asterisk sends on a channel. */
  async function recorded(channelId: string): Promise<readonly number[]> {
    const name = randomUUID()
    const snoop = `world-${name}`
    const isIn = entersApp(snoop)
    await ask('POST', `/channels/${channelId}/snoop/${snoop}`, { spy: 'out', app: APP })
    await isIn
    await ask('POST', `/channels/${snoop}/record`, { name, format: 'wav' })
    await sleep(RECORDED_MS)
    await ask('POST', `/recordings/live/${name}/stop`)
    const wav = (await ask('GET', `/recordings/stored/${name}/file`)) as Buffer
    await ask('DELETE', `/channels/${snoop}`)
    return Array.from({ length: Math.max(0, (wav.length - HEADER_BYTES) >> 1) }, (_, at) =>
      Math.abs(wav.readInt16LE(HEADER_BYTES + 2 * at)),
    )
  }

  return {
    /** The number that the called party saw, of each call that it answered; `anonymous`: it was withheld. */
    seen,
    /** The name of each channel that Asterisk has made, also of those that have ended. */
    created: created as readonly string[],
    /**
     * An outside caller dials a number of the contact center. Resolves to the channel at the caller's end. With `privacy`, it comes
     * over the trunk that is not trusted.
     */
    async call(
      number: string,
      from: string,
      how: { readonly name?: string; readonly isWithheld?: boolean; readonly privacy?: string } = {},
    ): Promise<string> {
      const channelId = `world-${randomUUID()}`
      const isIn = entersApp(channelId)
      const trunk = how.privacy === undefined ? 'world' : 'world-doubtful'
      const query = { endpoint: `PJSIP/${number}@${trunk}`, app: APP, channelId }
      const variables = {
        'CONNECTEDLINE(num)': from,
        ...(how.name !== undefined && { 'CONNECTEDLINE(name)': how.name }),
        ...(how.isWithheld === true && { 'CONNECTEDLINE(pres)': 'prohib' }),
        ...(how.privacy !== undefined && { 'PJSIP_HEADER(add,Privacy)': how.privacy }),
      }
      await ask('POST', '/channels/create', query, { variables })
      await isIn
      await ask('POST', `/channels/${channelId}/dial`, { timeout: RING_SECONDS })
      return channelId
    },
    /** The SIP status with which a call of an outside caller was refused; undefined: it has not ended. */
    endOf: (channelId: string): number | undefined => ends.get(channelId),
    /** The user of the address to which +15550107 redirects (302), encoded for a URI. */
    redirectTo: async (user: string): Promise<void> =>
      void (await ask('POST', '/asterisk/variable', { variable: 'REDIRECTS_TO', value: user })),
    /** All calls of the outside world, oldest first. */
    channels: (): Promise<readonly Pick<Listed, 'id' | 'state'>[]> => listed('PJSIP/world-'),
    hangup: async (channelId: string): Promise<void> => void (await ask('DELETE', `/channels/${channelId}`)),
    hold: async (channelId: string, isHeld: boolean): Promise<void> =>
      void (await ask(isHeld ? 'POST' : 'DELETE', `/channels/${channelId}/hold`)),
    /** The outside party sends a tone until its call ends. */
    sendTone: async (channelId: string): Promise<void> =>
      void (await ask('POST', `/channels/${channelId}/play`, { media: 'tone:dial' })),
    /**
     * Records for 200 ms the audio that Asterisk sends to a phone, silence included. Resolves to its loudest sample, from
     * 0 to 1.
     */
    async loudnessAt(endpoint: string): Promise<number> {
      // A channel of a phone that was unplugged before may still be ending.
      const phone = (await listed(`PJSIP/${endpoint}-`)).at(-1)
      if (phone === undefined) throw new Error(`${endpoint} has no call`)
      // About one recording of a hundred has no samples at all, not even silent ones (22.10).
      let samples: readonly number[] = []
      for (const endMs = Date.now() + RECORDED_WITHIN_MS; samples.length === 0 && Date.now() < endMs; ) {
        samples = await recorded(phone.id)
      }
      if (samples.length === 0) throw new Error(`Asterisk has sent ${endpoint} nothing, not even silence`)
      return Math.max(...samples) / LOUDEST
    },
    /** False after Asterisk has stopped. */
    get isOpen(): boolean {
      return socket.readyState === WebSocket.OPEN
    },
    close(): void {
      socket.close()
      void dispatcher.destroy()
    },
  }
}
