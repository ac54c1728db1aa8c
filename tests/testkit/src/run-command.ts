import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningCommand {
  readonly output: () => Omit<CommandResult, 'code'>
  readonly ended: Promise<CommandResult>
  kill(signal: NodeJS.Signals): void
  /** As a reader of its progress that ends. */
  closeStderr(): void
}

/** What every process of a test takes from the environment of the tests. With the cache it starts in half the time. `TMPDIR` marks it as one of the run. */
export const inherited = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  TMPDIR: process.env['TMPDIR'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
})

/** Starts Node with these arguments, outside of a terminal. The environment is the given one, and what is inherited. */
export function startCommand(
  args: readonly string[],
  { env = {}, input = '' }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): RunningCommand {
  const child = spawn(process.execPath, args, { env: { ...inherited(), ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  // It may end without reading its input.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return {
    output: () => ({ stdout, stderr }),
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr })),
    kill: (signal) => void child.kill(signal),
    closeStderr: () => void child.stderr.destroy(),
  }
}
