import { request } from 'undici'

interface Channel {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly creationtime: string
}

interface Bridge {
  readonly id: string
  /** `holding`: its channels wait on music. */
  readonly bridge_type: string
  readonly channels: readonly string[]
}

/** What the tests ask of Asterisk's REST interface, without the adapter's client. */
export function createAri(url: URL, user: string, password: string) {
  const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }

  async function ask(method: 'GET' | 'DELETE', path: string, query: Readonly<Record<string, string>> = {}) {
    // A restart of Asterisk would break a kept connection.
    const { statusCode, body } = await request(`${url.origin}/ari${path}`, { method, query, headers, reset: true })
    const text = await body.text()
    return { status: statusCode, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  async function list<Item>(path: string): Promise<readonly Item[]> {
    const { status, body } = await ask('GET', path)
    if (status !== 200) throw new Error(`Asterisk answered ${status} to GET ${path}`)
    return body as readonly Item[]
  }

  return {
    /** All channels and bridges. The channels are read first. */
    async calls() {
      const channels = await list<Channel>('/channels')
      return { channels, bridges: await list<Bridge>('/bridges') }
    },
    /**
     * Whether a channel that Asterisk lists exists. Asterisk 22.10 lists for ever the channel of a phone that was unplugged
     * during a transfer of its own.
     */
    hasChannel: async (id: string): Promise<boolean> =>
      // A function of the dialplan: for a variable, 404 may also mean that it is not set.
      (await ask('GET', pathOf('channels', id, '/variable'), { variable: 'CHANNEL(state)' })).status !== 404,
    /** @param cause Q.850 */
    endChannel: (id: string, cause?: string) =>
      ask('DELETE', pathOf('channels', id), cause === undefined ? {} : { reason_code: cause }),
    endBridge: (id: string) => ask('DELETE', pathOf('bridges', id)),
    stateOf: async (name: string): Promise<string | undefined> =>
      ((await ask('GET', `/endpoints/PJSIP/${name}`)).body as { readonly state?: string }).state,
  }
}

const pathOf = (kind: 'channels' | 'bridges', id: string, rest = ''): string =>
  `/${kind}/${encodeURIComponent(id)}${rest}`
