import { loadConsole } from '@switchhook/console'
import type { Logger } from '@switchhook/runtime'
import type { ApiConfig } from '../config.ts'
import type { ConsoleOptions } from './mount-console.ts'

/** The console's files and sign-ins; undefined if the console is off or has not been built. */
export function openConsole(
  { CONSOLE, AUTH_ISSUERS }: Pick<ApiConfig, 'CONSOLE' | 'AUTH_ISSUERS'>,
  log: Pick<Logger, 'info'>,
): ConsoleOptions | undefined {
  if (CONSOLE === 'off') return undefined
  const files = loadConsole()
  if (files === undefined) {
    log.info('no console: its files are missing; build them with make console')
    return undefined
  }
  return { files, issuers: AUTH_ISSUERS }
}
