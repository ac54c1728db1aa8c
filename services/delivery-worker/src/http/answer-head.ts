import type { Socket } from 'node:net'

export type AnswerHead = ReturnType<typeof readAnswerHead>

/** A longer 100 is passed to undici, which rejects it. The limit also bounds the work for a head that arrives byte by byte. */
const MAX_HEAD_BYTES = 4_096
const HEAD_END = '\r\n\r\n'
const BARE_LINE_FEED = /(^|[^\r])\n/
const EMPTY = Buffer.alloc(0)

const STATUS_AT = 'HTTP/1.1 '.length
/** `HTTP/1.1 200`, and the character after it. */
const MIN_STATUS_LINE = 13
const [ZERO, ONE, NINE] = [0x30, 0x31, 0x39]
const [HTTP, VERSION_0, VERSION_1] = [0x48545450, 0x2f312e30, 0x2f312e31]
const [LF, CR, SPACE] = [0x0a, 0x0d, 0x20]

/**
 * Reads the heads of the answers that one connection receives, before undici does. It keeps the status of each answer: the
 * status line decides, also if undici rejects a later line of the head. And it drops each `100 Continue`. A client must
 * accept interim answers that it did not ask for (RFC 9110, section 15.2). Undici accepts all of them except 100, for which
 * it destroys the connection. All other bytes are passed on, so undici still checks anything that is not a well-formed 100.
 * An answer without a 1xx costs a few comparisons.
 */
export function readAnswerHead() {
  let isAtHead = false
  let buffered: Buffer = EMPTY
  let status = 0

  function passAll(bytes: Buffer): Buffer {
    isAtHead = false
    buffered = EMPTY
    return bytes
  }

  return {
    /** Call when a request is written. The next bytes are the head of its answer. */
    expectAnswer: (): void => {
      isAtHead = true
      buffered = EMPTY
      status = 0
    },
    /** The status of the present answer. 0: none has arrived, or only interim ones. */
    status: (): number => status,
    /** Returns the bytes that the parser may read. Empty until it is clear whether a 100 is arriving. */
    pass: (chunk: Buffer): Buffer => {
      if (!isAtHead) return chunk
      if (buffered.length === 0 && chunk.length >= MIN_STATUS_LINE && chunk[STATUS_AT] !== ONE) {
        status = statusOf(chunk)
        return passAll(chunk)
      }
      let rest = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
      const passed: Buffer[] = []
      for (;;) {
        const end = rest.indexOf(HEAD_END)
        const head = rest.toString('latin1', 0, end < 0 ? rest.length : end + HEAD_END.length)
        if (!mayBeInterim(head)) {
          const final = statusOf(rest)
          if (final >= 200) status = final
          return passAll(Buffer.concat([...passed, rest]))
        }
        if (end < 0) {
          buffered = rest
          return Buffer.concat(passed)
        }
        if (statusOf(rest) !== 100) passed.push(rest.subarray(0, head.length))
        rest = rest.subarray(head.length)
      }
    },
  }
}

/** Applies `pass` to everything read from the socket. Undici reads only with `read()`, never by `data` events. */
export function filterReads(socket: Socket, pass: (chunk: Buffer) => Buffer): void {
  const read = socket.read.bind(socket)
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size) as Buffer | null
      if (chunk === null) return null
      const passed = pass(chunk)
      if (passed.length > 0) return passed
    }
  }
}

/** The status of the status line with which these bytes begin. 0: they do not begin with one. */
function statusOf(bytes: Buffer): number {
  if (bytes.length < MIN_STATUS_LINE || bytes.readUInt32BE(0) !== HTTP || bytes[STATUS_AT - 1] !== SPACE) return 0
  const version = bytes.readUInt32BE(4)
  const after = bytes[MIN_STATUS_LINE - 1]
  if ((version !== VERSION_1 && version !== VERSION_0) || (after !== SPACE && after !== CR && after !== LF)) return 0
  let status = 0
  for (let at = STATUS_AT; at < STATUS_AT + 3; at += 1) {
    const digit = bytes[at] as number
    if (digit < ZERO || digit > NINE) return 0
    status = status * 10 + digit - ZERO
  }
  return status
}

/** A 101 ends the search, as a final answer does: the bytes after it belong to another protocol. */
function mayBeInterim(head: string): boolean {
  if (head.length > MAX_HEAD_BYTES || BARE_LINE_FEED.test(head)) return false
  if (head.length < MIN_STATUS_LINE) return STATUS_LINE_START.test(head) && 'HTTP/1.'.startsWith(head.slice(0, 7))
  return INTERIM.test(head)
}

/** As far as a status line may have arrived. */
const STATUS_LINE_START = /^.{0,7}([01]( \d{0,3})?)?$/s
const INTERIM = /^HTTP\/1\.[01] 1(?!01)/
