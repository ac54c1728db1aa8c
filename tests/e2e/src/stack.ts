import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** The fields of `stack.json` that the tests read. */
export interface Stack {
  readonly urls: {
    readonly amqp: string
    readonly redis: string
    readonly apis: readonly [string, string]
    readonly devIdp: string
    readonly rabbitmqManagement: string | null
    readonly rabbitmqMetrics: string | null
    readonly telephones: string | null
  }
  readonly healthPorts: Readonly<Record<string, number>>
  readonly processes: Readonly<Record<string, { readonly pid: number; readonly log: string }>>
}

const home = (): string => {
  const folder = process.env['SWITCHHOOK_HOME']
  if (folder === undefined) throw new Error('the stack of the tests has no home')
  return folder
}

export const readStack = (): Stack => JSON.parse(readFileSync(join(home(), 'stack.json'), 'utf8')) as Stack

/** Starts the stopped processes of the stack and resolves when all are ready. */
export const bringUp = (): Promise<void> => make('up')

/** Stops the stack. */
export const bringDown = (): Promise<void> => make('down')

async function make(command: 'up' | 'down'): Promise<void> {
  const local = join(import.meta.dirname, '../../../tools/local/dist/main.js')
  const run = spawn(process.execPath, [local, command], { stdio: 'ignore' })
  const [code] = (await once(run, 'exit')) as [number]
  if (code !== 0) throw new Error(`make ${command} failed with exit code ${code}`)
}

/** Sends a signal to one process of the stack and resolves when it has exited. */
export async function end(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const pid = Number.parseInt(readFileSync(join(home(), 'run', `${name}.pid`), 'utf8'), 10)
  process.kill(pid, signal)
  while (existsSync(`/proc/${pid}`) && !isZombie(pid)) await sleep(5)
}

const isZombie = (pid: number): boolean => {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

/** The lines that a process has logged so far. */
export const logOf = (name: string): string[] =>
  readFileSync(join(home(), 'log', `${name}.log`), 'utf8')
    .trimEnd()
    .split('\n')

/** The output lines of the quarantine command. */
export async function listQuarantine(): Promise<string[]> {
  const command = join(import.meta.dirname, '../../../services/fanout/dist/quarantine.js')
  const { stdout } = await promisify(execFile)(process.execPath, [command, 'list'], {
    env: { ...process.env, AMQP_URL: readStack().urls.amqp },
  })
  return stdout.split('\n').filter((line) => line !== '')
}
