import { spawn } from 'node:child_process'

export interface CommandResult {
  readonly ok: boolean
  readonly stdout: string
  /** Standard output and standard error, interleaved as they arrived. */
  readonly output: string
}

/**
 * Runs a command to its end, or kills it after `timeoutMs`, and collects its output. Never rejects: a missing command counts
 * as a failed one.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs?: number; readonly cwd?: string } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { timeoutMs: timeout, ...rest } = options
    const child = spawn(command, args, {
      ...rest,
      ...(timeout !== undefined && { timeout, killSignal: 'SIGKILL' }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.once('exit', () => {
      // The children of a killed command may hold its pipes open.
      if (child.killed) for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
    })
    child.once('error', (error) => resolve({ ok: false, stdout, output: error.message }))
    child.once('close', (code) => resolve({ ok: code === 0, stdout, output }))
  })
}
