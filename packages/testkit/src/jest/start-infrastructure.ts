import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

declare global {
  var testInfrastructure: ChildProcess | undefined
}

/**
 * One broker and one Redis for the whole run. A process of its own keeps them: Jest's global set-up does not resolve
 * workspace sources, and a keeper that notices the end of its standard input cleans up even when Jest was killed.
 */
export default async function startInfrastructure(): Promise<void> {
  const keeper = spawn(process.execPath, ['--conditions=source', join(import.meta.dirname, 'keep-infrastructure.ts')], {
    // Its own process group: Ctrl-C ends Jest, and the keeper then ends in its own order.
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
