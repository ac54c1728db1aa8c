import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from './eventually.ts'
import { inherited } from './run-command.ts'

export interface LoggedLine extends Readonly<Record<string, unknown>> {
  readonly level: string
  readonly message: string
}

export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>

/**
 * Starts a service from its sources in its own process, configured only by `env`. Resolves once it has logged `started`.
 * @param main path of its `main.ts`
 */
export async function startServiceProcess(main: string, env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['--conditions=source', main], {
    env: { ...inherited(), HEALTH_PORT: '0', NODE_ENV: 'test', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const lines = (): LoggedLine[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LoggedLine)
  const started = await eventually(
    () => {
      const line = lines().find(({ message }) => message === 'started')
      if (line === undefined) throw new Error(`the service has not started; it logged:\n${output}`)
      return line
    },
    { timeoutMs: 60_000 },
  )
  return {
    lines,
    healthPort: Number(started['healthPort']),
    /** Sends SIGKILL, or another signal, and resolves once the process has ended. */
    kill: async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
      child.kill(signal)
      await ended
    },
    /** Sends SIGTERM. Resolves to the exit code. */
    stop: async (): Promise<number | null> => {
      child.kill('SIGTERM')
      const [code] = (await ended) as [number | null]
      return code
    },
  }
}
