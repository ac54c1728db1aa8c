import type { Socket } from 'node:net'

export type ContinueFilter = ReturnType<typeof createContinueFilter>

/** A longer 100 is passed to undici, which rejects it. The limit also bounds the work for a head that arrives byte by byte. */
const MAX_HEAD_BYTES = 4_096
/** `HTTP/1.1 1` begins an interim answer. Anything else ends the search. */
const INTERIM = /^HTTP\/1\.[01] 1/
const INTERIM_LENGTH = 'HTTP/1.1 1'.length
const CLASS_AT = INTERIM_LENGTH - 1
const DIGIT_ONE = 0x31
const HEAD_END = '\r\n\r\n'
const BARE_LINE_FEED = /(^|[^\r])\n/
const EMPTY = Buffer.alloc(0)

/**
 * Removes `100 Continue` answers from what one connection receives. A client must accept interim answers that it did not
 * ask for (RFC 9110, section 15.2). Undici accepts all of them except 100, for which it destroys the connection. The filter
 * drops every complete 100 before the answer and passes on all other bytes, so undici still checks anything that is not a
 * well-formed 100. An answer without a 1xx costs one comparison.
 */
export function createContinueFilter() {
  let isAtHead = false
  let held: Buffer = EMPTY

  function passAll(bytes: Buffer): Buffer {
    isAtHead = false
    held = EMPTY
    return bytes
  }

  return {
    /** Call when a request is written. The next bytes are the head of its answer. */
    expectAnswer: (): void => {
      isAtHead = true
      held = EMPTY
    },
    /** Returns the bytes that the parser may read. Empty until it is clear whether a 100 is arriving. */
    pass: (chunk: Buffer): Buffer => {
      if (!isAtHead) return chunk
      if (held.length === 0 && chunk.length > CLASS_AT && chunk[CLASS_AT] !== DIGIT_ONE) return passAll(chunk)
      let rest = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const passed: Buffer[] = []
      for (;;) {
        const end = rest.indexOf(HEAD_END)
        const head = rest.toString('latin1', 0, end < 0 ? rest.length : end + HEAD_END.length)
        if (!mayBeInterim(head)) return passAll(Buffer.concat([...passed, rest]))
        if (end < 0) {
          held = rest
          return Buffer.concat(passed)
        }
        if (statusOf(head) !== '100') passed.push(rest.subarray(0, head.length))
        rest = rest.subarray(head.length)
      }
    },
  }
}

/** Applies `filter` to everything read from the socket. Undici reads only with `read()`, never by `data` events. */
export function filterReads(socket: Socket, filter: ContinueFilter): void {
  const read = socket.read.bind(socket)
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size) as Buffer | null
      if (chunk === null) return null
      const passed = filter.pass(chunk)
      if (passed.length > 0) return passed
    }
  }
}

const statusOf = (head: string): string => head.slice(CLASS_AT, CLASS_AT + 3)

/** A 101 ends the search, as a final answer does: the bytes after it belong to another protocol. */
function mayBeInterim(head: string): boolean {
  if (head.length > MAX_HEAD_BYTES || BARE_LINE_FEED.test(head)) return false
  if (head.length < INTERIM_LENGTH) return 'HTTP/1.1 1'.startsWith(head) || 'HTTP/1.0 1'.startsWith(head)
  return INTERIM.test(head) && statusOf(head) !== '101'
}
