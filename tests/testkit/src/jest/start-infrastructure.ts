import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

declare global {
  var testInfrastructure: ChildProcess | undefined
}

/**
 * Each step of a start is bounded, and the keeper then says which one failed. This bound is for what none of them sees:
 * the keeper prints the logs of the servers, and is replaced once.
 */
const STARTED_WITHIN_MS = 300_000

/**
 * Starts one RabbitMQ and one Redis for the whole run, in a separate process: Jest's global set-up cannot resolve
 * workspace sources, and the process also cleans up after a killed Jest, because its standard input then ends.
 */
export default async function startInfrastructure(): Promise<void> {
  const urls = (await startKeeper()) ?? (await startKeeper())
  if (urls === undefined) throw new Error('the test infrastructure hung twice while it started')
  Object.assign(process.env, JSON.parse(urls))
}

/** Resolves to the URLs as JSON; undefined: the keeper hung. */
async function startKeeper(): Promise<string | undefined> {
  const keeper = spawn(process.execPath, ['--conditions=source', join(import.meta.dirname, 'keep-infrastructure.ts')], {
    // In its own process group, so that Ctrl-C ends only Jest and the keeper can stop the servers in order.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  globalThis.testInfrastructure = keeper
  const ended = once(keeper, 'exit').then(([code]) => {
    throw new Error(`the test infrastructure did not start (exit code ${String(code)})`)
  })
  ended.catch(() => {})
  const line = once(createInterface(keeper.stdout), 'line') as Promise<[string]>
  const urls = await Promise.race([line, ended, sleep(STARTED_WITHIN_MS, undefined, { ref: false })])
  if (urls === undefined) keeper.kill()
  keeper.unref()
  return urls?.[0]
}
