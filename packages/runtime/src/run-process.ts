import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { ConfigError } from './config/config.ts'
import { withoutCredentials } from './logger.ts'

/**
 * How long Node.js waits for one address of a name, in ms, before it gives it up for the next. Its default of 250 ms is less
 * than a lost SYN takes, which is sent again after a second, so a host with two addresses would fail if the last one cannot
 * be reached (nodejs/node#54359).
 */
const ADDRESS_TIMEOUT_MS = 2_500

/**
 * Runs a service's `main`. Wrong configuration ends the process with a list of every problem and no stack. Any other error
 * at start-up, and any unhandled error later, ends it with one JSON line; the supervisor then restarts it.
 */
export function runProcess(service: string, main: () => Promise<void>): void {
  const fail = (error: unknown): never => {
    const message = error instanceof ConfigError ? error.message : 'service failed'
    const stack = error instanceof ConfigError ? {} : { stack: error instanceof Error ? error.stack : String(error) }
    const line = JSON.stringify({ time: new Date().toISOString(), level: 'error', service, message, ...stack })
    process.stderr.write(`${withoutCredentials(line)}\n`)
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_TIMEOUT_MS)
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  main().catch(fail)
}
