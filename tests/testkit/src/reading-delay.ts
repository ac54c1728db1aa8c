import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * A busy machine lets a receiver in this process read a request late, so two requests look closer together than they were:
 * by `maxMs` at most.
 */
export function watchReadingDelay() {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  return { maxMs: (): number => delay.max / 1e6, stop: (): void => void delay.disable() }
}
