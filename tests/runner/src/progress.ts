import type { FileResult, Observer } from './run-part.ts'

/** A file that runs longer than this is reported while it runs. */
const SLOW_FILE_MS = 20_000
/** An estimate from fewer files says nothing. */
const MIN_DONE = 0.03

export interface Terminal {
  readonly isTTY: boolean
  write(text: string): void
}

export type Progress = ReturnType<typeof createProgress>

/**
 * Reports each file in one line when it ends, with its failures. On a terminal, the last line shows how many files are left
 * and about how long they take.
 */
export function createProgress(terminal: Terminal) {
  const running = new Map<string, NodeJS.Timeout>()
  let left = new Map<string, number>()
  let [beganMs, allMs, total, ended] = [0, 0, 0, 0]
  let isMuted = false

  const status = (): string => {
    if (left.size === 0) return ''
    const leftMs = sum(left.values())
    const done = allMs === 0 ? 0 : 1 - leftMs / allMs
    const minutes = Math.round(((performance.now() - beganMs) * (1 / done - 1)) / 60_000)
    const time = done < MIN_DONE ? '' : minutes < 1 ? ', less than a minute' : `, about ${minutes} min`
    return `${left.size} of ${total} files left${time}`
  }
  const say = (text: string): void => {
    if (isMuted) return
    const [before, after] = terminal.isTTY ? ['\r\u001B[K', status()] : ['', '']
    terminal.write(`${before}${text.endsWith('\n') ? text : `${text}\n`}${after}`)
  }

  return {
    say,
    /** The files that follow, each with the time that it is expected to take. */
    expect: (expectedMs: ReadonlyMap<string, number>): void => {
      left = new Map(expectedMs)
      ;[beganMs, allMs, total, ended] = [performance.now(), sum(expectedMs.values()), expectedMs.size, 0]
    },
    fileBegan: ({ project }, path) => {
      const timer = setInterval(() => say(`  … still running: ${project} ${path}`), SLOW_FILE_MS)
      running.set(path, timer.unref())
    },
    fileEnded: (result) => {
      clearInterval(running.get(result.path))
      running.delete(result.path)
      if (!left.delete(result.path)) total += 1
      ended += 1
      const width = String(total).length
      say(
        `${result.failed > 0 ? 'FAIL' : 'ok  '} [${String(ended).padStart(width)}/${total}] ${seconds(result.ms)}  ` +
          `${result.project} ${result.path} (${counts(result)})`,
      )
      if (result.failed > 0) say(failureOf(result))
    },
    printed: (text) => {
      const told = text.replace(/^(Running (one|\d+) projects?: .*|No tests found, exiting with code 0)\n/gm, '')
      if (told.trim() !== '') say(told)
    },
    /** Removes the last line and reports nothing more: what fails from now on was ended. */
    mute: (): void => {
      if (terminal.isTTY && !isMuted) terminal.write('\r\u001B[K')
      isMuted = true
      for (const timer of running.values()) clearInterval(timer)
    },
  } satisfies Observer & Record<string, unknown>
}

/** The failure of a file in full: what Jest says, and what the file and its processes printed. */
export const failureOf = ({ failure, printed, machine }: FileResult): string =>
  [
    failure.trimEnd(),
    ...(printed === '' ? [] : [`Printed by the file and its processes:\n${printed}`]),
    `(${machine})`,
  ].join('\n\n')

const counts = ({ passed, failed, skipped }: FileResult): string =>
  [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} FAILED`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ')

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(6)} s`

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, number) => total + number, 0)
