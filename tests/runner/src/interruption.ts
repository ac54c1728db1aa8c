import { onEndOfMake } from '@switchhook/test-servers'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/**
 * Resolves with the first signal that asks this process to end. The end of `make` and of the terminal counts as SIGHUP.
 * Further signals change nothing, so that everything can be stopped in order.
 */
export function interruption(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve(signal))
    process.stderr.on('error', () => resolve('SIGHUP'))
    onEndOfMake(() => resolve('SIGHUP'))
  })
}

/** Ends this process as the signal would have done. */
export function endBy(signal: NodeJS.Signals): void {
  for (const each of SIGNALS) process.removeAllListeners(each)
  process.kill(process.pid, signal)
}
