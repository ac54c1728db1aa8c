import { type Batch, createBatch } from './batch.ts'
import type { LineOutput } from './standard-output.ts'

/** A line waits at most this long: unnoticeable for readers, and several lines of a busy process. */
const MAX_WAIT_MS = 5
/** In characters. */
const MAX_GATHERED = 64 * 1_024

/**
 * Writes the lines of a few milliseconds together, because each write is a system call of about 10 µs. Lines that are
 * gathered when the process exits are written before it ends, after an uncaught exception too. Only a process that is
 * killed (SIGKILL, out of memory) loses the lines of its last 5 ms.
 */
export function gatherLines(output: LineOutput): Batch<string, void> {
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
