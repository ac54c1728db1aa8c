import { type ClientRequest, get, type IncomingMessage } from 'node:http'

interface StreamedEvent {
  readonly event: string
  readonly id?: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A client of the live stream. */
export interface EventStream {
  readonly status: number
  readonly events: readonly StreamedEvent[]
  /** The last id, also that of a block without data. */
  readonly lastId: () => string | undefined
  readonly comments: readonly string[]
  readonly isClosed: () => boolean
  readonly close: () => void
}

/** Opens a stream. Resolves once the response has begun. */
export async function openEventStream(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
  const request: ClientRequest = get(url, { headers, agent: false })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  const events: StreamedEvent[] = []
  const comments: string[] = []
  let lastId: string | undefined
  let isClosed = false
  let rest = ''
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s) as [string, string]))
      const [id, event, data, comment] = ['id', 'event', 'data', ''].map((name) => fields.get(name))
      if (comment !== undefined) comments.push(comment)
      if (id !== undefined) lastId = id
      if (data === undefined) continue
      events.push({ event: event ?? 'message', ...(id !== undefined && { id }), data: JSON.parse(data) as {} })
    }
  })
  response.once('close', () => {
    isClosed = true
  })
  response.on('error', () => {})
  request.on('error', () => {})
  return {
    status: response.statusCode ?? 0,
    events,
    lastId: () => lastId,
    comments,
    isClosed: () => isClosed,
    close: () => void request.destroy(),
  }
}
