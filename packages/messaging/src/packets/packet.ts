import { randomUUID } from 'node:crypto'
import { Unparsable } from '@switchhook/contracts'
import type { IncomingMessage } from '../message/incoming-message.ts'

/** Several members that travel in one message. Each is handled on its own; only the acknowledgement is shared. */
export interface Packet<Member> {
  /** Names the message when the broker delivers it again. */
  readonly id: string
  readonly members: readonly Member[]
  /** How often the broker has delivered this message before. */
  readonly returns: number
}

export interface PackedMember {
  readonly content: Buffer
  /** JSON values next to the content. */
  readonly fields: readonly unknown[]
}

type IndexEntry = readonly [bytes: number, ...fields: readonly unknown[]]

const NEWLINE = 0x0a

/** A line of JSON that lists the members, `[bytes, ...fields]` each, then their contents without separators. */
export function encodePacket(members: readonly PackedMember[]): Buffer {
  const index = members.map(({ content, fields }): IndexEntry => [content.length, ...fields])
  return Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...members.map(({ content }) => content)])
}

/** Contents are views into the message. @throws Unparsable if the message is not a packet */
export function decodePacket<Member>(
  { content, headers, messageId }: Pick<IncomingMessage, 'content' | 'headers' | 'messageId'>,
  memberOf: (packed: PackedMember, earlier: readonly Member[]) => Member,
): Packet<Member> {
  const end = content.indexOf(NEWLINE)
  const index = readIndex(content.subarray(0, Math.max(0, end)))
  const members: Member[] = []
  let at = end + 1
  for (const [bytes, ...fields] of index) {
    members.push(memberOf({ content: content.subarray(at, at + bytes), fields }, members))
    at += bytes
  }
  if (at !== content.length) throw new Unparsable(`the packet has ${content.length} bytes, its index says ${at}`)
  const returns = headers['x-delivery-count']
  return { id: messageId ?? randomUUID(), members, returns: typeof returns === 'number' ? returns : 0 }
}

/** @throws Unparsable if the first line of a packet is malformed */
export function malformed(): never {
  throw new Unparsable('the index of the packet is malformed')
}

function readIndex(line: Buffer): readonly IndexEntry[] {
  let index: unknown
  try {
    index = JSON.parse(line.toString())
  } catch (error) {
    throw new Unparsable('the packet has no index', { cause: error })
  }
  return Array.isArray(index) && index.every(isIndexEntry) ? index : malformed()
}

const isIndexEntry = (entry: unknown): entry is IndexEntry =>
  Array.isArray(entry) && Number.isInteger(entry[0]) && entry[0] >= 0
