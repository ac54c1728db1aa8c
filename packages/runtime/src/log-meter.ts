import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { standardOutput } from './standard-output.ts'

/** Counts the lines that are dropped while the reader of the log stalls or the disk is full, and logs their number afterwards. */
export function meterLog(metrics: Pick<Metrics, 'counter'>, log: Pick<Logger, 'warn'>): void {
  const counter = metrics
    .counter('switchhook_log_lines_dropped_total', 'Log lines that were dropped because the log could not be written.')
    .of({})
  standardOutput().onDrop({
    dropped: () => counter.add(),
    back: (lines) => log.warn('log lines were dropped, because the log could not be written', { lines }),
  })
}
