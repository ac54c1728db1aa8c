import { loadConsole } from '@switchhook/console'
import type { Logger } from '@switchhook/runtime'
import type { Issuer } from '../auth/issuer.ts'
import type { ConsoleOptions } from './mount-console.ts'

interface ConsoleConfig extends Readonly<Record<'CONSOLE' | 'CONSOLE_CHOOSER', 'on' | 'off'>> {
  readonly AUTH_ISSUERS: readonly Issuer[]
}

/** The console's files and sign-ins; undefined if the console is off or has not been built. */
export function openConsole(
  { CONSOLE, CONSOLE_CHOOSER, AUTH_ISSUERS }: ConsoleConfig,
  log: Pick<Logger, 'info'>,
): ConsoleOptions | undefined {
  if (CONSOLE === 'off') return undefined
  const files = loadConsole()
  if (files === undefined) {
    log.info('no console: its files are missing; build them with make console')
    return undefined
  }
  return { files, issuers: AUTH_ISSUERS, hasChooser: CONSOLE_CHOOSER === 'on' }
}
