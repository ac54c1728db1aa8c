const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Resolves with the first signal that asks this process to end. From then on, neither further signals nor a terminal that has
 * been closed end it, so that what was started can be stopped.
 */
export function interruption(): Promise<NodeJS.Signals> {
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve(signal))
  })
}
