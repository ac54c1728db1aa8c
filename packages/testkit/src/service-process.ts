import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from './eventually.ts'
import { inherited } from './run-command.ts'

/** A line that a service logged. */
export interface LoggedLine extends Readonly<Record<string, unknown>> {
  readonly level: string
  readonly message: string
}

/** A service in its own process, configured only by its environment. */
export interface ServiceProcess {
  /** The lines logged so far. */
  readonly lines: () => readonly LoggedLine[]
  readonly healthPort: number
  /** Sends SIGKILL, or another signal, and resolves once the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Sends SIGTERM. Resolves to the exit code. */
  stop(): Promise<number | null>
}

/**
 * Starts a service from its sources and resolves once it has logged `started`.
 * @param main path of its `main.ts`
 */
export async function startServiceProcess(
  main: string,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
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
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal)
      await ended
    },
    stop: async () => {
      child.kill('SIGTERM')
      const [code] = (await ended) as [number | null]
      return code
    },
  }
}
