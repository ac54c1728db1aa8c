import { Unparsable } from '@switchhook/contracts'
import type { IncomingMessage, SingleEvent } from '@switchhook/messaging'

/** Events of one backlog that travel in one message. */
export interface Pack {
  readonly events: readonly SingleEvent[]
  /** How often the broker has delivered this message before. */
  readonly returns: number
}

/** `[content's bytes, event type, trace context]` */
type IndexEntry = readonly [bytes: number, eventType: string, traceparent: string | null]

const NEWLINE = 0x0a

/** A line of JSON that lists the events, then their contents as they were received, without separators. */
export function encodePack(events: readonly SingleEvent[]): Buffer {
  const index = events.map(
    ({ content, eventType, traceparent }): IndexEntry => [content.length, eventType, traceparent ?? null],
  )
  return Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...events.map(({ content }) => content)])
}

/** @throws Unparsable if the message is not a pack */
export function decodePack({ content, headers }: Pick<IncomingMessage, 'content' | 'headers'>): Pack {
  const end = content.indexOf(NEWLINE)
  const index = readIndex(content.subarray(0, Math.max(0, end)))
  let at = end + 1
  const events = index.map(([bytes, eventType, traceparent]): SingleEvent => {
    const event = content.subarray(at, at + bytes)
    at += bytes
    return { content: event, eventType, ...(traceparent !== null && { traceparent }) }
  })
  if (at !== content.length) throw new Unparsable(`the pack has ${content.length} bytes, its index says ${at}`)
  const returns = headers['x-delivery-count']
  return { events, returns: typeof returns === 'number' ? returns : 0 }
}

function readIndex(line: Buffer): readonly IndexEntry[] {
  let index: unknown
  try {
    index = JSON.parse(line.toString())
  } catch (error) {
    throw new Unparsable('the pack has no index', { cause: error })
  }
  if (!Array.isArray(index) || !index.every(isIndexEntry)) throw new Unparsable('the index of the pack is malformed')
  return index
}

const isIndexEntry = (entry: unknown): entry is IndexEntry =>
  Array.isArray(entry) &&
  Number.isInteger(entry[0]) &&
  entry[0] >= 0 &&
  typeof entry[1] === 'string' &&
  (entry[2] === null || typeof entry[2] === 'string')
