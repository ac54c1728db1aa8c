/** The parts of the broker's management API that the figures use. */
export interface Management {
  readonly ask: <T>(method: string, path: string, body?: object) => Promise<T>
  /** Messages by queue, ready and unacknowledged, as of the last statistics interval. */
  depths(): Promise<ReadonlyMap<string, number>>
  /** Messages published to and delivered from all queues since the broker started. */
  moved(): Promise<{ readonly published: number; readonly delivered: number }>
  /** Purges the queues whose names start with `prefix`. */
  purge(prefix: string): Promise<void>
}

export function openManagement(managementUrl: string): Management {
  const { origin, username, password } = new URL(managementUrl)
  async function ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa(`${username || 'guest'}:${password || 'guest'}`)}`,
        'content-type': 'application/json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`broker: ${method} ${path} answered ${response.status}`)
    const text = await response.text()
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  const depths = async (): Promise<ReadonlyMap<string, number>> => {
    const queues = await ask<readonly { name: string; messages?: number }[]>('GET', '/queues/%2F')
    return new Map(queues.map(({ name, messages }) => [name, messages ?? 0]))
  }
  return {
    ask,
    depths,
    moved: async () => {
      const { message_stats: stats = {} } = await ask<{ message_stats?: Record<string, number> }>('GET', '/overview')
      return { published: stats['publish'] ?? 0, delivered: stats['deliver_get'] ?? 0 }
    },
    purge: async (prefix) => {
      for (const name of (await depths()).keys()) {
        if (name.startsWith(prefix)) await ask('DELETE', `/queues/%2F/${name}/contents`)
      }
    },
  }
}
