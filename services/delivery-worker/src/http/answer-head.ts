import type { Socket } from 'node:net'

/** A longer 100 is passed to undici, which rejects it. The limit also bounds the work for a head that arrives byte by byte. */
const MAX_HEAD_BYTES = 4_096
const HEAD_END = '\r\n\r\n'
const BARE_LINE_FEED = /(^|[^\r])\n/
const EMPTY = Buffer.alloc(0)

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r\n]/
/** `HTTP/1.1 200`, and the character after it. */
const MIN_STATUS_LINE = 13

/**
 * Reads the heads of the answers that one connection receives, before undici does. It keeps the status of each answer: the
 * status line decides, also if undici rejects a later line of the head. And it drops each `100 Continue`. A client must
 * accept interim answers that it did not ask for (RFC 9110, section 15.2). Undici accepts all of them except 100, for which
 * it destroys the connection. All other bytes are passed on, so undici still checks anything that is not a well-formed 100.
 */
export function readAnswerHead() {
  let isAtHead = false
  let buffered: Buffer = EMPTY
  let status = 0

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
      const passed: Buffer[] = []
      let rest = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
      buffered = EMPTY
      for (;;) {
        const found = statusOf(rest)
        const length = interimLength(rest, found)
        if (length === undefined) {
          isAtHead = false
          status = found >= 200 ? found : 0
          return passed.length === 0 ? rest : Buffer.concat([...passed, rest])
        }
        if (length === 0) {
          buffered = rest
          return Buffer.concat(passed)
        }
        if (found !== 100) passed.push(rest.subarray(0, length))
        rest = rest.subarray(length)
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
const statusOf = (bytes: Buffer): number =>
  Number(STATUS_LINE.exec(bytes.toString('latin1', 0, MIN_STATUS_LINE))?.[1] ?? 0)

/**
 * The length of the interim head with which these bytes begin. 0: the rest of it may arrive later. Undefined: they begin with
 * something else. A 101 counts as a final answer: the bytes after it belong to another protocol.
 */
function interimLength(bytes: Buffer, status: number): number | undefined {
  if (bytes.length < MIN_STATUS_LINE) return 'HTTP/1.'.startsWith(bytes.toString('latin1', 0, 7)) ? 0 : undefined
  if (status < 100 || status >= 200 || status === 101) return undefined
  const end = bytes.indexOf(HEAD_END)
  const length = end < 0 ? bytes.length : end + HEAD_END.length
  if (length > MAX_HEAD_BYTES || BARE_LINE_FEED.test(bytes.toString('latin1', 0, length))) return undefined
  return end < 0 ? 0 : length
}
