/** Calls `work` when the key is pressed. Does nothing unless a person is at a terminal. */
export function onKey(key: string, work: () => Promise<void>): void {
  const { stdin } = process
  if (!stdin.isTTY) return
  stdin.setRawMode(true).unref()
  process.on('exit', () => stdin.setRawMode(false))
  stdin.on('data', (typed) => {
    const text = String(typed)
    // A raw terminal sends no signals.
    if (text.includes('\u0003')) process.kill(process.pid, 'SIGINT')
    else if (text.includes(key)) void work().catch(() => undefined)
  })
}
