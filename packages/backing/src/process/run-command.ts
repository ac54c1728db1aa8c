import { spawn } from 'node:child_process'

export interface CommandResult {
  readonly ok: boolean
  readonly stdout: string
  /** Both streams as they came. */
  readonly output: string
}

/** Runs a command to its end and collects what it says. Never rejects: a command that is not there is one that failed. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly timeoutMs?: number; readonly cwd?: string } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { timeoutMs: timeout, ...rest } = options
    const child = spawn(command, args, {
      ...rest,
      ...(timeout !== undefined && { timeout }),
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
    child.once('error', (error) => resolve({ ok: false, stdout, output: error.message }))
    child.once('close', (code) => resolve({ ok: code === 0, stdout, output }))
  })
}
