import { type ClientRequest, get, type IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'

interface StreamedEvent {
  readonly event: string
  readonly id?: string
  readonly data: Readonly<Record<string, unknown>>
}

export type EventStream = Awaited<ReturnType<typeof openEventStream>>

/** Opens a stream, with the parser that docs/live-stream.md recommends. Resolves once the response has begun. */
export async function openEventStream(url: string, headers: Readonly<Record<string, string>>) {
  const request: ClientRequest = get(url, { headers, agent: false })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  const events: StreamedEvent[] = []
  const comments: string[] = []
  let lastId: string | undefined
  let isClosed = false
  const parser = createParser({
    onEvent: ({ event = 'message', id, data }) => {
      if (id !== undefined) lastId = id
      const shown = { event, ...(id !== undefined && { id }), data: JSON.parse(data) as {} }
      if (event !== 'place') events.push(shown)
    },
    onComment: (comment) => void comments.push(comment),
  })
  response.setEncoding('utf8')
  response.on('data', (text: string) => parser.feed(text))
  response.once('close', () => {
    isClosed = true
  })
  response.on('error', () => {})
  request.on('error', () => {})
  return {
    status: response.statusCode ?? 0,
    /** Without those that only say the place. */
    events: events as readonly StreamedEvent[],
    /** The last id that the parser reported with an event. */
    lastId: () => lastId,
    comments: comments as readonly string[],
    isClosed: () => isClosed,
    close: () => void request.destroy(),
  }
}
