/** Where lines go. Must be able to write synchronously while the process exits, as standard output is (Linux). */
export interface LineOutput {
  readonly write: (text: string) => unknown
}

export interface GatheredLines {
  /** Adds a line, without its line break. */
  readonly add: (line: string) => void
  /** Writes the gathered lines now. */
  readonly flush: () => void
}

/** A line waits at most this long: unnoticeable for readers, and several lines of a busy process. */
const LONGEST_WAIT_MS = 5
/** Beyond this many characters the lines do not wait, so that a burst does not grow the memory. */
const LARGEST_GATHERING = 64 * 1_024

/**
 * Writes the lines of a few milliseconds together, because each write is a system call of about 10 µs. Lines that are
 * gathered when the process exits are written before it ends, after an uncaught exception too. Only a process that is
 * killed (SIGKILL, out of memory) loses the lines of its last 5 ms.
 */
export function gatherLines(output: LineOutput): GatheredLines {
  let gathered = ''
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    const text = gathered
    gathered = ''
    if (text !== '') output.write(text)
  }
  process.on('exit', flush)

  return {
    add: (line) => {
      gathered += `${line}\n`
      if (gathered.length >= LARGEST_GATHERING) flush()
      // Does not keep a process alive: its exit writes the lines.
      else timer ??= setTimeout(flush, LONGEST_WAIT_MS).unref()
    },
    flush,
  }
}
