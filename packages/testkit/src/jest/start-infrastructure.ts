import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

declare global {
  var testInfrastructure: ChildProcess | undefined
}

/**
 * Starts one RabbitMQ and one Redis for the whole run, in a separate process: Jest's global set-up cannot resolve
 * workspace sources, and the process also cleans up after a killed Jest, because its standard input then ends.
 */
export default async function startInfrastructure(): Promise<void> {
  const keeper = spawn(process.execPath, ['--conditions=source', join(import.meta.dirname, 'keep-infrastructure.ts')], {
    // In its own process group, so that Ctrl-C ends only Jest and the keeper can stop the servers in order.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  globalThis.testInfrastructure = keeper
  const ended = once(keeper, 'exit').then(([code]) => {
    throw new Error(`the test infrastructure did not start (exit code ${String(code)})`)
  })
  const line = once(createInterface(keeper.stdout), 'line')
  const [urls] = (await Promise.race([line, ended])) as [string]
  ended.catch(() => {})
  Object.assign(process.env, JSON.parse(urls))
  keeper.unref()
}
