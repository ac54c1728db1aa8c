import { writeSync } from 'node:fs'
import { createBatch } from './batch.ts'

/** A reader that is away for longer at the end of a process loses the last lines, and does not delay the end further. */
const LAST_WAIT_MS = 5_000
const RETRY_MS = 5
/** After an error of the descriptor: the disk is full, or the reader of the pipe has gone. */
const RETRY_AFTER_ERROR_MS = 1_000
/** In characters. */
const MAX_GATHERED = 64 * 1_024
/** What waits for a reader, in bytes. Further lines are dropped. Warnings and errors have a room of their own. */
const MAX_WAITING = { urgent: 1024 * 1024, other: 4 * 1024 * 1024 }

export interface Line {
  readonly text: string
  /** A warning or an error: written before the others once the reader is back. */
  readonly isUrgent: boolean
}

interface DropListener {
  /** A line was dropped. */
  readonly dropped: () => void
  /** All that waited is written; so many lines were dropped before. */
  readonly back: (lines: number) => void
}

export type LineOutput = ReturnType<typeof openOutput>

function createQueue(maxBytes: number) {
  const lines: Buffer[] = []
  let bytes = 0
  return {
    /** false: there is no room for it. */
    add(line: Buffer): boolean {
      if (bytes + line.length > maxBytes) return false
      bytes += line.length
      lines.push(line)
      return true
    },
    takeAll(): Buffer | undefined {
      if (lines.length === 0) return undefined
      bytes = 0
      return Buffer.concat(lines.splice(0))
    },
  }
}

/**
 * Writes lines to a pipe, a file or a terminal. A pipe takes only 64 KiB that its reader has not read. What it does not take
 * waits here, up to a bound, and is written while the process ends: Node's own stream loses it then. No failure of the log
 * reaches the process.
 * @param fd non-blocking if it is a pipe
 */
export function openOutput(fd: number, { write = writeSync, max = MAX_WAITING } = {}) {
  /** What is being written, perhaps in part. */
  let current: Buffer | undefined
  const urgent = createQueue(max.urgent)
  const other = createQueue(max.other)
  let retry: NodeJS.Timeout | undefined
  let untold = 0
  let listener: DropListener = { dropped: () => {}, back: () => {} }

  /** Whether all is written. @throws the error of the descriptor, such as EPIPE or ENOSPC */
  function writeWaiting(): boolean {
    try {
      while ((current ??= urgent.takeAll() ?? other.takeAll()) !== undefined) {
        const written = write(fd, current)
        current = written < current.length ? current.subarray(written) : undefined
      }
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      return false
    }
  }

  function writeLater(): void {
    retry = undefined
    let pauseMs = RETRY_MS
    try {
      if (writeWaiting()) return tell()
    } catch {
      pauseMs = RETRY_AFTER_ERROR_MS
    }
    // oxlint-disable-next-line no-restricted-globals -- a pause before a repeat: no answer is awaited
    retry = setTimeout(writeLater, pauseMs).unref()
  }

  function tell(): void {
    if (untold === 0) return
    const lines = untold
    untold = 0
    listener.back(lines)
  }

  return {
    write(lines: readonly Line[]): void {
      const isStalled = retry !== undefined
      for (const { text, isUrgent } of lines) {
        // The order changes only while the reader is away.
        const queue = isUrgent && isStalled ? urgent : other
        if (queue.add(Buffer.from(`${text}\n`))) continue
        untold += 1
        listener.dropped()
      }
      if (!isStalled) writeLater()
    },
    /** For the end of the process: blocks until all is written or the reader is gone, for `LAST_WAIT_MS` at most. */
    flush(): void {
      const untilMs = performance.now() + LAST_WAIT_MS
      const clock = new Int32Array(new SharedArrayBuffer(4))
      try {
        while (!writeWaiting() && performance.now() < untilMs) Atomics.wait(clock, 0, 0, RETRY_MS)
      } catch {
        // The reader is gone. The process ends with the result that it has.
      }
    },
    onDrop: (next: DropListener): void => void (listener = next),
  }
}

let opened: LineOutput | undefined

/** The standard output of the process. All loggers share it, so that none writes into a line of another. */
export function standardOutput(): LineOutput {
  // Node makes the pipe non-blocking when it opens its stream.
  opened ??= openOutput(process.stdout.fd)
  return opened
}

/**
 * Writes the lines of up to 50 ms together, because each write is a system call of about 10 µs, and a wake-up if the
 * process has nothing else to do. Only a process that is killed (SIGKILL, out of memory) loses its last lines.
 */
export function gatherLines(output: Pick<LineOutput, 'write' | 'flush'>) {
  const lines = createBatch({
    maxWeight: MAX_GATHERED,
    weightOf: ({ text }: Line) => text.length,
    write: output.write,
  })
  process.on('exit', () => {
    lines.flush()
    output.flush()
  })
  return {
    add: (line: Line): void => {
      lines.add(line)
      if (line.isUrgent) lines.flush()
    },
    flush: lines.flush,
  }
}
