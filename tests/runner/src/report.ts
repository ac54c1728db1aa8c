import { failureOf, seconds } from './progress.ts'
import type { FileResult, PartResult } from './run-part.ts'

export interface Outcome {
  readonly results: readonly PartResult[]
  /** The failed files once more, alone; undefined if they did not run again. */
  readonly again: readonly PartResult[] | undefined
  /** The paths of files that a process which ended unexpectedly has left out, the one that it ran included. */
  readonly notRun: readonly string[]
  /** What parts left running or in the temporary folder, in words. */
  readonly leftovers: readonly string[]
}

/** As many failed files run again, alone. If more have failed, it is not for want of processor time. */
const MAX_RUN_AGAIN = 3
const SLOWEST_SHOWN = 10

const failedFiles = (results: readonly PartResult[]): FileResult[] =>
  results.flatMap(({ files }) => files.filter(({ failed }) => failed > 0))

/** The parts whose failed files run again. Empty if a process ended unexpectedly, or if too many files failed. */
export function partsToRepeat(results: readonly PartResult[]): readonly PartResult[] {
  const files = failedFiles(results)
  const isHopeless = files.length > MAX_RUN_AGAIN || results.some(({ problem }) => problem !== undefined)
  return isHopeless ? [] : results.filter((result) => failedFiles([result]).length > 0)
}

const count = (results: readonly PartResult[], name: 'passed' | 'failed'): number =>
  results.reduce((total, { files, problem }) => {
    const ofProcess = name === 'failed' && problem !== undefined ? 1 : 0
    return files.reduce((sum, file) => sum + file[name], total + ofProcess)
  }, 0)

export function countsOf({ results, again }: Outcome): { readonly passed: number; readonly failed: number } {
  const failed = count(again ?? results, 'failed')
  return { passed: count(results, 'passed') + count(results, 'failed') - failed, failed }
}

const tell = (heading: string, files: readonly FileResult[]): string[] =>
  files.map((file) => `${heading}  ${file.project} ${file.path}\n\n${failureOf(file)}`)

/** What went wrong, each with its first failure in full: the second often has another cause, or none. */
export function problemsOf({ results, again, notRun, leftovers }: Outcome): readonly string[] {
  const failedAgain = new Set(failedFiles(again ?? []).map(({ path }) => path))
  const hasEnded = again?.every(({ problem }) => problem === undefined) ?? false
  const isFailedAgain = (path: string): boolean => !hasEnded || failedAgain.has(path)
  const failed = failedFiles(results)
  return [
    ...tell(
      'FAILED',
      failed.filter(({ path }) => isFailedAgain(path)),
    ),
    ...tell(
      'UNSTEADY (failed beside other tests, passed alone; the cause is a bug of the test or of the code)',
      failed.filter(({ path }) => !isFailedAgain(path)),
    ),
    ...[...results, ...(again ?? [])].flatMap(({ problem }) => (problem === undefined ? [] : [`FAILED  ${problem}`])),
    ...(notRun.length > 0 ? [`NOT RUN\n${notRun.map((path) => `  ${path}`).join('\n')}`] : []),
    ...leftovers.map((what) => `LEFT BEHIND  ${what}`),
  ]
}

/** What RabbitMQ logged while a file ran that failed. */
export const brokerLogsOf = ({ results, again }: Outcome): readonly string[] =>
  failedFiles([...results, ...(again ?? [])]).flatMap(({ project, path, brokerLog }) =>
    brokerLog === '' ? [] : [`RabbitMQ's log during ${project} ${path}:\n${brokerLog}\n`],
  )

export function slowest(results: readonly PartResult[], most = SLOWEST_SHOWN): readonly string[] {
  const files = results.flatMap((result) => result.files).toSorted((a, b) => b.ms - a.ms)
  return files.slice(0, most).map(({ project, path, ms }) => `  ${seconds(ms)}  ${project} ${path}`)
}

const MAX_CAUSE = 1_000

/** Why nothing can be tested, in one line: without the places in the code that Jest shows below a message. */
export function causeOf(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const end = lines.findIndex((line) => /^(at .+:\d+|>? *\d+ \|)/.test(line))
  const told = lines.slice(0, end === -1 ? undefined : end).filter((line) => line !== '')
  const cause = told.join(' ')
  // A server's own words come last.
  return cause.length <= MAX_CAUSE ? cause : `${cause.slice(0, MAX_CAUSE / 2)} … ${cause.slice(-MAX_CAUSE / 2)}`
}
