import type { Uptime } from '@switchhook/store'

/** Clients that back off have at least this long to return after an outage, or the whole time of the setting. */
const RETURN_MS = 60 * 60_000

/**
 * How long until a subscription counts as unused, in ms; 0 or less: it does. Only time in which a client could ask counts.
 * @param usedAtMs ms since 1970
 * @param allowedMs without use
 */
export function timeUntilUnused({ periods, nowMs }: Uptime, usedAtMs: number, allowedMs: number): number {
  const unusedMs = periods.reduce(
    (sum, { fromMs, untilMs }) => sum + Math.max(0, Math.min(untilMs, nowMs) - Math.max(fromMs, usedAtMs)),
    0,
  )
  const last = periods.at(-1)
  const upMs = last === undefined || last.untilMs < nowMs ? 0 : nowMs - last.fromMs
  return Math.max(allowedMs - unusedMs, Math.min(allowedMs, RETURN_MS) - upMs)
}
