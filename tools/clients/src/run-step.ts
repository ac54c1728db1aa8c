import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Runs a script of bash, and ends it with every process that it started after `minutes`, when `stopped` aborts and on Ctrl-C.
 * Resolves to its output. @throws Error with the end of its output if it fails or is ended
 */
export async function runStep(
  script: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  minutes: number,
  stopped?: AbortSignal,
): Promise<string> {
  const child = spawn('bash', ['--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    env: { ...process.env, ...env },
    // A process group of its own, which can be ended as a whole.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const end = (): void => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  const interrupt = (): void => {
    end()
    process.exit(130)
  }
  process.once('SIGINT', interrupt)
  const timeout = AbortSignal.timeout(minutes * 60_000)
  const ended = AbortSignal.any([timeout, ...(stopped ? [stopped] : [])])
  ended.addEventListener('abort', end)
  if (ended.aborted) end()
  const [code] = (await once(child, 'close')) as [number | null]
  process.off('SIGINT', interrupt)
  ended.removeEventListener('abort', end)
  if (code === 0) return output
  const why = timeout.aborted ? `It was ended after ${minutes} minutes.\n` : ''
  throw new Error(why + output.split('\n').slice(-40).join('\n'))
}
