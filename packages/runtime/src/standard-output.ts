import { writeSync } from 'node:fs'
import { createBatch } from './batch.ts'

/** A reader that is away for longer at the end of a process loses the last lines, and does not delay the end further. */
const LAST_WAIT_MS = 5_000
const RETRY_MS = 5
/** A line waits at most this long: unnoticeable for readers, and several lines of a busy process. */
const MAX_WAIT_MS = 5
/** In characters. */
const MAX_GATHERED = 64 * 1_024

type LineOutput = ReturnType<typeof openOutput>

/**
 * Writes texts to a pipe, a file or a terminal in their order. A pipe takes only 64 KiB that its reader has not read. What it
 * does not take waits here and is written while the process ends: Node's own stream loses it then.
 * @param fd non-blocking if it is a pipe
 */
function openOutput(fd: number) {
  /** The first one may be written in part. */
  let waiting: Buffer[] = []
  let retry: NodeJS.Timeout | undefined

  /** Whether all is written. @throws the error of the descriptor, such as EPIPE once its reader is gone */
  function writeWaiting(): boolean {
    try {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        const written = writeSync(fd, next)
        if (written < next.length) waiting[0] = next.subarray(written)
        else waiting.shift()
      }
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      return false
    }
  }

  function writeLater(): void {
    retry = undefined
    try {
      // oxlint-disable-next-line no-restricted-globals -- a pause before a repeat: no answer is awaited
      if (!writeWaiting()) retry = setTimeout(writeLater, RETRY_MS).unref()
    } catch (error) {
      waiting = []
      // Uncaught, as an error of Node's stream would be. Whoever logs must not get it.
      queueMicrotask(() => {
        throw error
      })
    }
  }

  return {
    write(text: string): void {
      waiting.push(Buffer.from(text))
      if (retry === undefined) writeLater()
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
 * Writes the lines of a few milliseconds together, because each write is a system call of about 10 µs. Lines that are
 * gathered when the process exits are written before it ends, after an uncaught exception too. Only a process that is
 * killed (SIGKILL, out of memory) loses the lines of its last 5 ms.
 */
export function gatherLines(output: LineOutput) {
  const lines = createBatch({
    waitMs: MAX_WAIT_MS,
    maxWeight: MAX_GATHERED,
    weightOf: (line: string) => line.length,
    write: (gathered) => output.write(`${gathered.join('\n')}\n`),
  })
  process.on('exit', () => {
    lines.flush()
    output.flush()
  })
  return lines
}
