const CHECK_MS = 500

/** Calls `then` when the `make` that started this process has ended: a killed `make` sends no signal. */
export function onEndOfMake(then: () => void): void {
  if (process.env['MAKELEVEL'] === undefined) return
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && then(), CHECK_MS).unref()
}
