const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 15_000

/**
 * Runs immediately, and again after a pause if it was called meanwhile. The pause is nine times as long as the run took, so
 * that a large installation is not asked without end.
 */
export function paced(run: () => Promise<unknown>): () => void {
  let isDue = false
  let isBusy = false

  async function runWhileDue(): Promise<void> {
    isBusy = true
    while (isDue) {
      isDue = false
      const startedMs = Date.now()
      await run()
      const pauseMs = Math.min(Math.max(9 * (Date.now() - startedMs), MIN_PAUSE_MS), MAX_PAUSE_MS)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    isBusy = false
  }

  return () => {
    isDue = true
    if (!isBusy) void runWhileDue()
  }
}
