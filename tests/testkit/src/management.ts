export interface QueueInfo {
  readonly name: string
  readonly type: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** A node name. For a quorum queue without a leader, the last leader. */
  readonly leader: string
  readonly members: readonly string[]
  readonly consumers: number
  /** Ready plus unacknowledged. RabbitMQ refreshes the counts once a second, so poll them with `eventually`. */
  readonly messages: number
  readonly messagesReady: number
  readonly messagesUnacknowledged: number
}

export type Management = ReturnType<typeof openManagement>

/** RabbitMQ's management HTTP API within one virtual host, as far as tests need it. */
export function openManagement(baseUrl: string, vhost: string) {
  const { origin, username, password } = new URL(baseUrl)
  const authorization = `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
  const v = encodeURIComponent(vhost)

  async function call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${origin}/api/${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new Error(`RabbitMQ's management API does not answer at ${origin}: is MANAGEMENT_URL right?`, {
        cause: error,
      })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} /api/${path} answered ${response.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const list = async (path: string): Promise<readonly Json[]> => (await call('GET', path)) as readonly Json[]
  const connections = (): Promise<readonly Json[]> => list(`vhosts/${v}/connections`)

  return {
    /** Any request to the API, such as `GET` of `overview`. */
    call,
    queues: async () => (await list(`queues/${v}`)).map(toQueueInfo),
    /** @throws if there is no such queue */
    queue: async (name: string) => toQueueInfo((await call('GET', `queues/${v}/${encodeURIComponent(name)}`)) as Json),
    deleteQueue: async (name: string) => void (await call('DELETE', `queues/${v}/${encodeURIComponent(name)}`)),
    purgeQueue: async (name: string) => void (await call('DELETE', `queues/${v}/${encodeURIComponent(name)}/contents`)),
    bindings: async () =>
      (await list(`bindings/${v}`)).map((binding) => ({
        source: String(binding['source']),
        routingKey: String(binding['routing_key']),
        destination: String(binding['destination']),
      })),
    /** The names that clients gave their connections (`connection_name`). */
    connectionNames: async () =>
      (await connections()).map(({ client_properties: properties }) => String((properties as Json)['connection_name'])),
    /** The node of each connection. */
    connectionNodes: async () => (await connections()).map(({ node }) => String(node)),
    /** Makes the broker close every listed connection; new ones are listed with a delay. Returns their number. */
    closeConnections: async () => {
      const open = await connections()
      await Promise.all(open.map(({ name }) => call('DELETE', `connections/${encodeURIComponent(String(name))}`)))
      return open.length
    },
    createVhost: async () => {
      await call('PUT', `vhosts/${v}`, {})
      await call('PUT', `permissions/${v}/${username}`, { configure: '.*', write: '.*', read: '.*' })
    },
    deleteVhost: async () => void (await call('DELETE', `vhosts/${v}`)),
  }
}

/** The address and the login of the management API, as the scripts of the Helm chart read them. */
export function managementEnvironment(address: string): NodeJS.ProcessEnv {
  const { origin, pathname, username, password } = new URL(address)
  return {
    MANAGEMENT_URL: origin + pathname,
    MANAGEMENT_USERNAME: decodeURIComponent(username),
    MANAGEMENT_PASSWORD: decodeURIComponent(password),
  }
}

type Json = Readonly<Record<string, unknown>>

function toQueueInfo(queue: Json): QueueInfo {
  const count = (name: string): number => Number(queue[name] ?? 0)
  return {
    name: String(queue['name']),
    type: String(queue['type']),
    arguments: queue['arguments'] as Json,
    leader: String(queue['leader'] ?? queue['node']),
    members: (queue['members'] ?? []) as readonly string[],
    consumers: count('consumers'),
    messages: count('messages'),
    messagesReady: count('messages_ready'),
    messagesUnacknowledged: count('messages_unacknowledged'),
  }
}
