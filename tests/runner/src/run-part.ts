import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownEnvironment, PROXIES } from '@switchhook/test-servers'
import { inOrder } from './in-order.ts'
import { machineLine } from './machine.ts'
import type { Part } from './plan.ts'

export interface FileResult {
  readonly project: string
  /** Relative to the repository. */
  readonly path: string
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly ms: number
  /** What Jest says about the failed tests; empty if none failed. */
  readonly failure: string
  /** What the file and the processes that it started printed, with the names of the tests that ran meanwhile. */
  readonly printed: string
  /** Load and free memory when the file ended. */
  readonly machine: string
  /** What RabbitMQ has logged meanwhile; empty if no test failed. */
  readonly brokerLog: string
}

export interface PartResult {
  readonly part: Part
  readonly files: readonly FileResult[]
  /** Why the process ended other than with the results of all its tests. It counts as one failure. */
  readonly problem?: string
}

/** What tests/jest/to-runner.mjs says. It marks its place on stderr with the number (`inOrder`). */
export type Message =
  | { readonly kind: 'begun'; readonly files: number }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'test'; readonly name: string }
  | ({ readonly kind: 'ended' } & Omit<FileResult, 'project' | 'printed' | 'machine' | 'brokerLog'>)
  | { readonly kind: 'complete' }

/** The global set-ups of Jest say why servers do not start. */
type Sent = (Message | { readonly kind: 'unavailable'; readonly cause: string }) & { readonly number: number }

export interface Observer {
  fileBegan(part: Part, path: string): void
  fileEnded(result: FileResult): void
  /** What a part prints while no file runs. */
  printed(text: string): void
}

/** Servers that tests need cannot be started on this machine. */
export class ServersUnavailable extends Error {
  override readonly name = 'ServersUnavailable'
}

export interface PartSettings {
  /** Jest, or what takes its place in a test. */
  readonly program: string
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly observer: Observer
  /** Ends what the process has started, and tells what that was. */
  readonly clear: () => Promise<Left>
  /** What the RabbitMQ servers of the part have logged since then. */
  readonly brokerLog: (sinceMs: number) => string
}

/** What a part left running or in the temporary folder. */
interface Left {
  readonly processes: readonly string[]
  readonly files: readonly string[]
}

/** Servers and programs that a person gives to the tests. The first part also downloads what the machine lacks. */
const OF_TESTS = [
  'AMQP_URL',
  'MANAGEMENT_URL',
  'REDIS_URL',
  'BACKING',
  'REDIS_SERVER',
  'ASTERISK_ROOT',
  'CHROMIUM',
  'HELM',
  'KUBECTL',
  'PROMETHEUS',
]

const MAX_PRINTED = 64 * 1024
/** Long enough for a process to end on a busy machine. Jest says so if it does not, and would then wait without end. */
const MAX_EXIT_MS = 15_000
const NOT_EXITED = /^Jest did not exit /m
/** How long the output of a part may stay open after all that is known of it has ended. */
const MAX_OUTPUT_MS = 5_000
/** Skipped tests, and work that takes long. All else that a file prints is reported if it fails. */
const TOLD_AT_ONCE = /^(NOT TESTED:|…) .*$/gm

/** @throws ServersUnavailable as soon as the global set-up of Jest says so */
export async function runPart(part: Part, settings: PartSettings): Promise<PartResult & { readonly left: Left }> {
  const { program, root, env, observer, clear, brokerLog } = settings
  const args = ['--maxWorkers=1', `--openHandlesTimeout=${MAX_EXIT_MS}`, '--reporters=./tests/jest/to-runner.mjs']
  const child = spawn(process.execPath, [program, '--selectProjects', part.project, ...args, ...part.args], {
    cwd: root,
    env: { ...ownEnvironment(part.project === 'preflight' ? [...OF_TESTS, ...PROXIES] : OF_TESTS), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })

  const files: FileResult[] = []
  let running:
    | { readonly path: string; readonly beganAtMs: number; printed: string; test: string | undefined }
    | undefined
  let outside = ''
  let isComplete = false
  const unavailable = Promise.withResolvers<never>()
  const print = (text: string): void => {
    const told = text.match(TOLD_AT_ONCE)
    if (running !== undefined && told !== null) observer.printed(told.join('\n'))
    if (running === undefined) {
      outside = (outside + text).slice(-MAX_PRINTED)
      // A failed test has left something open, for example.
      if (isComplete && NOT_EXITED.test(outside)) child.kill('SIGKILL')
      return observer.printed(text)
    }
    const heading = running.test === undefined ? '' : `\n— printed during "${running.test}":\n`
    running.test = undefined
    running.printed = (running.printed + heading + text).slice(-MAX_PRINTED)
  }
  const handle = (message: Message): void => {
    if (message.kind === 'file') {
      running = { path: relative(root, message.path), beganAtMs: Date.now(), printed: '', test: undefined }
      observer.fileBegan(part, running.path)
    } else if (message.kind === 'test' && running !== undefined) running.test = message.name
    else if (message.kind === 'ended') {
      const { kind: _, path, ...numbers } = message
      const printed = running?.printed.trim() ?? ''
      const log = running !== undefined && numbers.failed > 0 ? brokerLog(running.beganAtMs) : ''
      const of = { project: part.project, path: relative(root, path), machine: machineLine(), brokerLog: log }
      const result = { ...of, ...numbers, printed }
      running = undefined
      files.push(result)
      observer.fileEnded(result)
    } else if (message.kind === 'complete') isComplete = true
  }
  const order = inOrder(print, handle)
  child.stdout?.setEncoding('utf8').on('data', print)
  child.stderr?.setEncoding('utf8').on('data', order.text)
  child.on('message', ({ number, ...message }: Sent) => {
    if (message.kind === 'unavailable') unavailable.reject(new ServersUnavailable(message.cause))
    else order.message(number, message)
  })

  const [exited, closed] = [once(child, 'exit') as Promise<[number | null, string | null]>, once(child, 'close')]
  const [code, signal] = await Promise.race([exited, unavailable.promise])
  // Its output ends with the last process that has it, which may be one that nothing shows to be part of the run.
  const found = await clear()
  const isOpen = await Promise.race([closed.then(() => false), sleep(MAX_OUTPUT_MS, true, { ref: false })])
  if (isOpen) for (const output of [child.stdout, child.stderr]) output?.destroy()
  const unknown = isOpen ? ['a process with the output of its tests'] : []
  const left = { ...found, processes: [...found.processes, ...unknown] }
  order.end()
  const hasFailed = files.some(({ failed }) => failed > 0)
  if (isComplete && (code === 0 || (hasFailed && (code === 1 || NOT_EXITED.test(outside)))))
    return { part, files, left }
  const how = signal ?? `exit code ${String(code)}`
  const where = running === undefined ? (isComplete ? 'after its tests' : 'outside of its tests') : `in ${running.path}`
  const said = (running?.printed ?? outside).trim()
  return { part, files, left, problem: `The process of ${part.name} ended (${how}) ${where}.${said && `\n${said}`}` }
}
