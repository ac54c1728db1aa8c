import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs a script of bash. Resolves to its output. @throws Error with the end of its output if it fails, AbortError */
export async function runStep(
  script: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  minutes: number,
  stopped?: AbortSignal,
): Promise<string> {
  const timeout = AbortSignal.timeout(minutes * 60_000)
  const signal = stopped ? AbortSignal.any([stopped, timeout]) : timeout
  const child = spawn('bash', ['--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    env: { ...process.env, ...env },
    signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return output
  throw new Error(output.split('\n').slice(-40).join('\n'))
}
