const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
const PARENT_CHECK_MS = 500

/**
 * Resolves with the first signal that asks this process to end. The end of `make` and of the terminal counts as SIGHUP: a
 * killed `make` sends no signal. Further signals change nothing, so that everything can be stopped in order.
 */
export function interruption(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve(signal))
    process.stderr.on('error', () => resolve('SIGHUP'))
    if (process.env['MAKELEVEL'] === undefined) return
    const parent = process.ppid
    setInterval(() => process.ppid !== parent && resolve('SIGHUP'), PARENT_CHECK_MS).unref()
  })
}

/** Ends this process as the signal would have done. */
export function endBy(signal: NodeJS.Signals): void {
  for (const each of SIGNALS) process.removeAllListeners(each)
  process.kill(process.pid, signal)
}
